// What the gates have to tell, bounded so that every event can hold it.
import type { Context, MessageStep } from './context.ts';
import type { ContentNote, SurfaceNotice } from './guard.ts';

const FINDINGS_MAX = 100;
const FINDING_LENGTH_MAX = 200;
/** From the weakest to the strongest. */
const ACTIONS: readonly ContentNote['action'][] = ['tag', 'redact', 'ask', 'block'];

/** One note of several: the strongest action, and every finding once. */
export function mergeNotes(notes: readonly (ContentNote | undefined)[]): ContentNote | undefined {
  const given = notes.filter((note) => note !== undefined);
  if (given.length === 0) return undefined;
  const findings = new Set<string>();
  let strongest = 0;
  for (const { action, findings: found } of given) {
    strongest = Math.max(strongest, ACTIONS.indexOf(action));
    for (const finding of found) {
      if (findings.size >= FINDINGS_MAX) break;
      if (finding !== '') findings.add(finding.slice(0, FINDING_LENGTH_MAX));
    }
  }
  return { action: ACTIONS[strongest] ?? 'block', findings: [...findings] };
}

const NOTICES_MAX = 1_000;
const NAME_LENGTH_MAX = 1_024;
const REASON_LENGTH_MAX = 128;
const DETAIL_LENGTH_MAX = 4_096;

/** Puts on record what the gates have noticed since. */
export function recordNotices(
  { config }: Context,
  step: MessageStep,
  notices: readonly SurfaceNotice[],
): void {
  for (const notice of notices.slice(0, NOTICES_MAX)) {
    const { what, enforced, reason_code, name } = notice;
    const detail = detailOf(notice);
    const surface = {
      what,
      enforced,
      server_name: config.serverName,
      ...(name !== undefined && name !== '' && { name: name.slice(0, NAME_LENGTH_MAX) }),
      reason_code: reason_code.slice(0, REASON_LENGTH_MAX),
      detail,
    };
    const body = { surface };
    step.out.push({ do: 'emit', type: 'surface', durability: 'durable', body });
    if (EXPECTED.has(what)) continue;
    const words = surface.name === undefined ? detail : `${surface.name}: ${detail}`;
    const told = { what: 'NOTICED', from: 'server', reason: 'surface' } as const;
    const report = { ...told, detail: words, bytes: 0 };
    step.out.push({ do: 'report', report });
  }
}

function detailOf({ detail, what }: SurfaceNotice): string {
  return detail === '' ? what : detail.slice(0, DETAIL_LENGTH_MAX);
}

/** What a manifest hides and rewrites is as its author wants it: it goes on record, and that is all. */
const EXPECTED: ReadonlySet<SurfaceNotice['what']> = new Set(['tool_hidden', 'schema_rewritten']);
