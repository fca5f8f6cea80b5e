// What can be accepted of a look at a server: its tools, and its instructions.
import type { ApiAcceptPins, ApiPendingChange, ApiProbe, ApiSeenTool } from '@subluminal/contracts';

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
  return all.filter(({ kind, tool }) => (kind !== 'same' && kind !== 'unknown') || names.has(tool));
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
