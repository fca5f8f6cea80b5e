// How wide the columns are. Lines are printed as calls end, so a column can only learn from the
// calls before: it grows with what it has seen, up to a limit, and never shrinks.
import { displayWidth, fitted } from '../terminal/text.ts';

/** Cells per column; 0 leaves the column out. */
export interface Cells {
  readonly time: number;
  readonly decision: number;
  readonly tool: number;
  readonly argument: number;
  readonly latency: number;
  readonly run: number;
  readonly rule: number;
  /** All that is left. */
  readonly detail: number;
}

/** The widest so far. */
export interface Seen {
  tool: number;
  argument: number;
  rule: number;
}

interface LineNeeds {
  readonly cells: number;
  readonly name: string;
  readonly argument: string;
  readonly rule: string;
}

const TIME = 12;
/** Without the milliseconds. */
const TIME_SHORT = 8;
const DECISION = 11;
const LATENCY = 7;
const RUN = 9;
const TOOL = { min: 16, minWide: 24, max: 40 };
const RULE = { max: 24 };
/** It starts wide enough for most names of files. */
const ARGUMENT = { min: 8, start: 16, max: 48 };
const GAP = 2;
/** Below this there is no room for the run and the milliseconds; below the other, only for what. */
const WIDE = 110;
const NARROW = 60;

export function layoutFor({ cells, name, argument, rule: ruleId }: LineNeeds, seen: Seen): Cells {
  // A quarter of the line at most, so that one long name does not push the reasons out.
  const quarter = Math.floor(cells / 4);
  seen.tool = Math.max(seen.tool, displayWidth(fitted(name, TOOL.max)));
  seen.rule = Math.max(seen.rule, displayWidth(fitted(ruleId, RULE.max)));
  if (argument !== '') {
    const needed = displayWidth(fitted(argument, ARGUMENT.max));
    seen.argument = Math.max(seen.argument, ARGUMENT.start, needed);
  }
  const besideDecision = Math.max(0, cells - DECISION - GAP);
  const isWide = cells >= WIDE;
  const isNarrow = cells < NARROW;
  const toolMin = isWide ? TOOL.minWide : TOOL.min;
  const fixed = {
    time: timeCells(isWide, isNarrow),
    decision: Math.min(DECISION, cells),
    tool: Math.min(Math.max(toolMin, Math.min(seen.tool, quarter)), besideDecision),
    latency: isNarrow ? 0 : LATENCY,
    run: isWide ? RUN : 0,
  };
  const used = Object.values(fixed).filter((width) => width > 0);
  const left = cells - used.reduce((sum, width) => sum + width + GAP, 0);
  const ruleCells = isNarrow ? 0 : Math.max(0, Math.min(seen.rule, quarter, left));
  const besideRule = Math.max(0, left - (ruleCells > 0 ? ruleCells + GAP : 0));
  // The reason has the other half; where that is little, the argument says more than it and the rule.
  const half = Math.max(Math.floor(besideRule / 2), Math.min(ARGUMENT.start, left));
  const room = Math.min(seen.argument, half);
  const argumentCells = isNarrow || room < ARGUMENT.min ? 0 : room;
  const besideArgument = Math.max(0, left - (argumentCells > 0 ? argumentCells + GAP : 0));
  const rule = Math.min(ruleCells, besideArgument);
  const detail = besideArgument - (rule > 0 ? rule + GAP : 0);
  return { ...fixed, argument: argumentCells, rule, detail: Math.max(0, detail) };
}

function timeCells(isWide: boolean, isNarrow: boolean): number {
  if (isNarrow) return 0;
  return isWide ? TIME : TIME_SHORT;
}
