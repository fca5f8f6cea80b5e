// Tools that have the names of tools of other servers. A server that goes by two names collides with
// itself in all of them: one line tells of all, and of what helps.
import type { Command, Report } from '@subluminal/core/session';

type Emitted = Extract<Command, { readonly do: 'emit' }>;
type WarnOfLookAlike = (text: string, facts: Omit<Report, 'detail' | 'sample'>) => void;

const SHOWN_MAX = 5;
/** As the detail of a notice names a tool of another server. */
const OTHER = /`([^`/]+)\//g;

export interface LookAlikes {
  /** Hears of everything that goes on record. */
  noticed(command: Emitted): void;
  /** True for a report that is told with others, in a moment. */
  holds(report: Report): boolean;
}

export function joinLookAlikes(warn: WarnOfLookAlike): LookAlikes {
  /** What was noticed and not reported yet, in the words of its report. */
  const noticed = new Set<string>();
  const held: Report[] = [];
  const tell = (): void => {
    const [first] = held;
    if (first === undefined) return;
    const { detail: _, sample: __, ...facts } = first;
    warn(wordsFor(held.splice(0).map(({ detail }) => detail)), facts);
  };
  return {
    noticed({ type, body }) {
      if (type !== 'surface' || body.surface.what !== 'look_alike') return;
      const { name, detail } = body.surface;
      noticed.add(name === undefined ? (detail ?? '') : `${name}: ${detail}`);
    },
    holds(report) {
      if (report.reason !== 'surface' || !noticed.delete(report.detail)) return false;
      if (held.push(report) === 1) setImmediate(tell);
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
