/** Types of the monitor's API and of the parts of the page, for the type check (make lint-js). No browser loads this file. */

// -- the API -------------------------------------------------------------------------------------------------

export interface Row {
  system: string;
  rank: number;
  rank_low: number;
  rank_high: number;
  cluster: number;
  score: number;
  deviation: number;
  judgments: number;
  /** The rank range for other judges; null if it is not known. */
  judge_rank_low: number | null;
  judge_rank_high: number | null;
  line_above: "judgments" | "judges" | null;
  island: number;
}

export interface Caution {
  code: string;
  message: string;
  link: string;
}

export interface BoardOutlook {
  state: "open" | "settled" | "budget_spent" | "closed";
  message: string;
  above: string | null;
  below: string | null;
  judgments: number | null;
  judges: number | null;
}

/** A leaderboard without its rows and counts. */
export interface BoardFacts {
  judges: number;
  elo_per_score: number | null;
  fragility: number | null;
  outlook: BoardOutlook | null;
  cautions: Caution[];
  left_out: Record<string, number>;
  pending: string | null;
}

export interface LeaderboardPayload extends BoardFacts {
  sequence: number;
  judgments: number;
  rows: Row[];
}

export interface RowsUpdate {
  sequence: number;
  judgments: number;
  order: string[] | null;
  rows: Row[];
  gone: string[];
  board: BoardFacts | null;
}

export interface CategoriesPayload {
  tags: { tag: string; values: { value: string; judgments: number }[]; without: number; other: number }[];
}

export interface CampaignsPage {
  campaigns: Overview[];
  total: number;
  next: string | null;
}

export interface Overview {
  campaign: string;
  state: string;
  model: string;
  policy: string;
  judgments: number;
  duplicates: number;
  rejected: number;
  systems: number;
  withdrawn: string[];
  judges: number;
  excluded: number;
  segments: number;
  budget: number | null;
  outstanding: number;
  newest: string;
  kind: "rankings" | "scores";
  baseline: string | null;
  rate: number;
  clusters: number;
  separation: number;
  leader: string | null;
  held: number;
  quarantine: { offset: number; error: string; cause: "fault" | "corrupt" | "outdated" | "retraction" } | null;
  rerun_progress: number | null;
  problem: string | null;
}

export interface Judge {
  judge: string;
  judgments: number;
  agreement: number | null;
  agreed: number;
  compared: number;
  sensitivity: number | null;
  reliability: number | null;
  seconds: number | null;
  too_fast: number;
  excluded: boolean;
  suspicious: string[];
  tested: boolean;
  /** Gold items, and the bounds of the pass rate at 95 %. */
  gold_passed?: number;
  gold_failed?: number;
  gold_low?: number | null;
  gold_high?: number | null;
}

export interface Segment {
  segment: string;
  information: number | null;
  judgments: number;
}

export interface JudgesPayload {
  judges: Judge[];
  suspended: string[];
  /** What the tests of the votes can find, or null if judges are not tested. */
  power: { judges: number; tested: number; needed: number | null; enough: number; message: string } | null;
  total: number;
  next: string | null;
}

export interface SegmentsPayload {
  segments: Segment[];
  total: number;
  next: string | null;
  others: number;
}

export interface Pair {
  system: string;
  opponent: string;
  wins: number;
  ties: number;
  losses: number;
  win_rate: number | null;
  early: number | null;
  late: number | null;
}

export interface PairsPayload {
  systems: string[];
  pairs: Pair[];
}

export interface Sample {
  sequence: number;
  judgments: number;
  at: string;
  scores: (number | null)[];
  deviations: (number | null)[];
  ranks: (number | null)[];
}

export interface HistoryPayload {
  systems: string[];
  samples: Sample[];
}

export interface HistoryUpdate {
  systems: string[];
  sample: Sample;
}

export interface MatchRequest {
  systems: string[];
  segment: string | null;
  information: number;
  why: string;
  expires_at: string;
  leased_until: string | null;
}

export interface Rejection {
  place: string;
  reason: string;
  field: string | null;
  message: string;
  judgment: string | null;
  at: string;
}

export interface RejectionsPayload {
  total: number;
  reasons: Record<string, number>;
  latest: Rejection[];
}

export interface Lag {
  partition: number;
  end: number;
  applied: number;
  lag: number;
  missing: number;
  forwarded: number;
  stopped: string | null;
}

export interface Finding {
  text: string;
  detail: string;
  fix: string;
}

export interface FindingsPayload {
  problems: Finding[];
  notes: Finding[];
}

export interface WorkerReport {
  worker: string;
  version: string;
  silent: boolean;
  reported_seconds: number;
  open: number[];
  opening: number[];
  stopped: number[];
}

export interface Status extends FindingsPayload {
  rate: number;
  waiting: string[];
  partitions: Lag[];
  workers: WorkerReport[];
  streams: number;
}

// -- elements and tables -------------------------------------------------------------------------------------

export type Child = Node | string | null | undefined | Child[];

export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>;

/** A column of a table. */
export interface Column<Line> {
  title: string;
  value: (row: Line) => unknown;
  /** The value as text. */
  text?: (row: Line) => string;
  /** The value as an element. */
  cell?: (row: Line) => Node | string;
  numeric?: boolean;
  /** Explanation, shown as a tooltip. */
  about?: string;
  /** Hidden on a narrow screen. */
  minor?: boolean;
  wide?: boolean;
  /** Hidden while all its values are null. */
  optional?: boolean;
}

export interface TableOptions<Line> {
  caption: string;
  columns: Column<Line>[];
  /** Title of the column to sort by. */
  sort?: string | null;
  descending?: boolean;
  /** Rows that are shown at first. */
  folded?: number;
  /** Text instead of an empty table. */
  empty?: string;
  /** Rows become cards on a phone. */
  cards?: boolean;
}

// -- charts --------------------------------------------------------------------------------------------------

type Channel<Datum> = string | number | boolean | null | undefined | object | ((datum: Datum, index: number) => unknown);

type Mark = <Datum>(data: Datum[], options: Record<string, Channel<Datum>>) => object;

/** The part of Observable Plot that the page uses. */
export interface Plot {
  plot(options: object): SVGSVGElement;
  pointer<Datum>(options: Record<string, Channel<Datum>>): Record<string, Channel<Datum>>;
  areaY: Mark;
  barX: Mark;
  cell: Mark;
  dot: Mark;
  lineY: Mark;
  ruleY: Mark;
  text: Mark;
  tip: Mark;
}

/** Makes the options of a chart from the library and the width in pixels. */
export type ChartOptions = (Plot: Plot, width: number) => object;

export interface TimedValue {
  at: Date;
  value: number;
}

// -- the page ------------------------------------------------------------------------------------------------

export type ConnectionState = "connecting" | "live" | "reconnecting" | "paused" | "refused" | "locked";

export interface PanelOptions {
  id: string;
  title: string;
  /** Title in the list of sections. */
  short?: string;
  about?: string;
  /** Milliseconds between two refreshes. */
  every?: number;
  /** Height in pixels that is reserved before the first data. */
  room?: number;
}

declare global {
  var Plot: Plot;
}
