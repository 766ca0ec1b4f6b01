-- Reads what a campaign is besides its tables, with the outstanding match requests of the same moment.
-- KEYS: the head, the match requests.
return {redis.call('HMGET', KEYS[1], 'layout', 'campaign', 'status'), redis.call('HVALS', KEYS[2])}
