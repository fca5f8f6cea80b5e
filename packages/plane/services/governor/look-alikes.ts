// Tools with the names of tools of other servers. A server with two names collides with itself in all of its
// tools, so one line reports all of them, and how to fix it.
import type { Command, Report } from '@subluminal/core/session';

type Emitted = Extract<Command, { readonly do: 'emit' }>;
type WarnOfLookAlike = (text: string, facts: Omit<Report, 'detail' | 'sample'>) => void;

const SHOWN_MAX = 5;
/** As the detail of a notice names a tool of another server. */
const OTHER = /`([^`/]+)\//g;

export type LookAlikes = ReturnType<typeof joinLookAlikes>;

export function joinLookAlikes(warn: WarnOfLookAlike) {
  /** Notices that are not reported yet, by the text of their report. */
  const noticed = new Set<string>();
  const held: Report[] = [];
  const report = (): void => {
    const [first] = held;
    if (first === undefined) return;
    const { detail: _, sample: __, ...facts } = first;
    warn(wordsFor(held.splice(0).map(({ detail }) => detail)), facts);
  };
  return {
    /** Called for each event that is recorded. */
    noticed({ type, body }: Emitted): void {
      if (type !== 'surface' || body.surface.what !== 'look_alike') return;
      const { name, detail } = body.surface;
      noticed.add(name === undefined ? (detail ?? '') : `${name}: ${detail}`);
    },
    /** True for a report that is joined with others, and written shortly after. */
    holds(one: Report): boolean {
      if (one.reason !== 'surface' || !noticed.delete(one.detail)) return false;
      if (held.push(one) === 1) setImmediate(report);
      return true;
    },
  };
}

function wordsFor(details: readonly string[]): string {
  const others = new Set(details.flatMap((text) => [...text.matchAll(OTHER)].map((one) => one[1])));
  const [server, ...more] = others;
  const gone =
    more.length === 0 ? `${server} is not used any more` : 'one of them is not used any more';
  const name = more.length === 0 && server !== undefined ? server : 'SERVER';
  const shown = details.slice(0, SHOWN_MAX).join(' ');
  const rest = details.length - SHOWN_MAX;
  const count = rest > 0 ? `${details.length} tools have names of tools of other servers. ` : '';
  const cut = rest > 0 ? ` And ${rest} more.` : '';
  const fix = server === undefined ? '' : ` If ${gone}, forget its tools: sub pins forget ${name}`;
  return `${count}${shown}${cut}${fix}`;
}
