// What two runs did with each tool.
import type { ApiRunSummary } from '@subluminal/contracts';

type ToolTally = ApiRunSummary['tools'][number];

export interface ToolDifference {
  readonly name: string;
  readonly calls: readonly [number, number];
  readonly refused: readonly [number, number];
  readonly errors: readonly [number, number];
}

/** Those that differ most first. */
export function toolDifferences(
  one: readonly ToolTally[],
  other: readonly ToolTally[],
): readonly ToolDifference[] {
  const name = ({ server_name, tool_name }: ToolTally) => `${server_name}/${tool_name}`;
  const [left, right] = [one, other].map(
    (tools) => new Map(tools.map((tool) => [name(tool), tool])),
  );
  const both = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  return [...both]
    .map((tool) => {
      const pair = (field: 'calls' | 'refused' | 'errors') =>
        [left?.get(tool)?.[field] ?? 0, right?.get(tool)?.[field] ?? 0] as const;
      return { name: tool, calls: pair('calls'), refused: pair('refused'), errors: pair('errors') };
    })
    .toSorted((a, b) => distance(b) - distance(a) || a.name.localeCompare(b.name));
}

function distance({ calls, refused, errors }: ToolDifference): number {
  return [calls, refused, errors].reduce((sum, [a, b]) => sum + Math.abs(a - b), 0);
}
