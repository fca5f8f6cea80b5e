// What can be accepted of a look at a server: its tools, and its instructions.
import type { ApiAcceptPins, ApiPendingChange, ApiProbe, ApiSeenTool } from '@subluminal/contracts';

/** What one diff shows whole, and what a page has room for. */
const LINES_MAX = { change: 2_000, all: 20_000 } as const;

export interface ShownChange
  extends Pick<ApiSeenTool, 'pinned' | 'seen' | 'before' | 'after' | 'fields' | 'acceptable'> {
  /** Null for the instructions. */
  readonly tool: string | null;
  readonly kind: ApiSeenTool['kind'] | 'unknown';
}

/** Changes, and what is as pinned again though a session has noticed a change: somebody must say that this is fine. */
export function shownChanges(
  { tools, instructions }: ApiProbe,
  noticed: readonly ApiPendingChange[],
): readonly ShownChange[] {
  const names = new Set(noticed.map(({ tool_name }) => tool_name));
  const all: ShownChange[] = [
    { ...instructions, tool: null },
    ...tools.map((tool) => ({ ...tool, tool: tool.tool_name })),
  ];
  return fitting(
    all.filter(({ kind, tool }) => (kind !== 'same' && kind !== 'unknown') || names.has(tool)),
  );
}

/** A server may show a hundred thousand lines. What is not shown whole is not accepted here. */
function fitting(changes: readonly ShownChange[]): readonly ShownChange[] {
  let left: number = LINES_MAX.all;
  return changes.map((change) => {
    const lines = linesOf(change.before) + linesOf(change.after);
    if (lines > Math.min(LINES_MAX.change, left)) {
      return { ...change, before: null, after: null, acceptable: false };
    }
    left -= lines;
    return change;
  });
}

function linesOf(text: string | null): number {
  return text === null ? 0 : text.split('\n').length;
}

/** Exactly what was shown, by its hashes. */
export function acceptBody(wish: readonly ShownChange[]): ApiAcceptPins {
  const tools = wish.flatMap(({ tool, seen, pinned }) =>
    tool === null ? [] : [{ tool_name: tool, seen, pinned }],
  );
  const text = wish.find(({ tool }) => tool === null);
  return {
    tools,
    ...(text !== undefined && { instructions: { seen: text.seen, pinned: text.pinned } }),
  };
}
