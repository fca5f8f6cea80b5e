// A grant while it is being chosen.
import type { ApiGrantWish } from '@subluminal/contracts';

export type GrantSpan = ApiGrantWish['kind'];
export type ArgsScope = 'exact' | 'pattern' | 'any';

export interface ArgChoice {
  readonly name: string;
  readonly value: unknown;
  readonly is: 'equal' | 'like' | 'free';
  readonly glob: string;
}

export interface GrantChoice {
  readonly span: GrantSpan;
  readonly minutes: number;
  readonly scope: ArgsScope;
  readonly args: readonly ArgChoice[];
}

/** Begins with the narrowest that lasts: the same arguments in the same run. */
export function firstChoice(args: unknown): GrantChoice {
  const members = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  return {
    span: 'run',
    minutes: 30,
    scope: 'exact',
    args: Object.entries(members).map(([name, value]) => ({
      name,
      value,
      is: 'equal',
      glob: typeof value === 'string' ? value : '',
    })),
  };
}

export function wishOf(choice: GrantChoice): ApiGrantWish {
  const { span, minutes } = choice;
  if (span === 'once') return { kind: 'once' };
  const args = argsOf(choice);
  return span === 'minutes' ? { kind: span, minutes, args } : { kind: span, args };
}

function argsOf({ scope, args }: GrantChoice) {
  if (scope !== 'pattern') return { kind: scope } as const;
  const like: Record<string, string> = {};
  for (const { name, is, glob } of args) if (is === 'like') like[name] = glob;
  const free = args.filter(({ is }) => is === 'free').map(({ name }) => name);
  return { kind: scope, like, free } as const;
}
