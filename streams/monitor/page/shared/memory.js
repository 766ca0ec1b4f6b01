/** What the reader has chosen, kept in the browser for the next visit. */

const PREFIX = "judgestream.";

/** @param {string} key */
export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null; // the browser may block the storage
  }
}

/**
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, value);
  } catch {
    // the browser may block the storage; then the choice is not remembered
  }
}
