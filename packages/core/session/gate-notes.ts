// Notes and notices of the gates, bounded so that every event can hold them.
import type { MessageStep } from './context.ts';
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

/** Records the notices of the gates, and reports those that an operator should see. */
export function recordNotices(step: MessageStep, notices: readonly SurfaceNotice[]): void {
  const { serverName: server_name } = step.context.config;
  for (const notice of notices.slice(0, NOTICES_MAX)) {
    const { what, enforced, reason_code, name, detail: words, state } = notice;
    const detail = words === '' ? what : words.slice(0, DETAIL_LENGTH_MAX);
    const surface = {
      what,
      enforced,
      server_name,
      ...(name !== undefined && name !== '' && { name: name.slice(0, NAME_LENGTH_MAX) }),
      reason_code: reason_code.slice(0, REASON_LENGTH_MAX),
      detail,
      ...(state !== undefined && { state }),
    };
    step.out.push({ do: 'emit', type: 'surface', durability: 'durable', body: { surface } });
    if (EXPECTED.has(what)) continue;
    const report = { what: 'NOTICED', from: 'server', reason: 'surface', bytes: 0 } as const;
    const named = surface.name === undefined ? detail : `${surface.name}: ${detail}`;
    step.out.push({ do: 'report', report: { ...report, detail: named } });
  }
}

/** The author of a manifest wants these, so they are recorded and not reported. */
const EXPECTED: ReadonlySet<SurfaceNotice['what']> = new Set(['tool_hidden', 'schema_rewritten']);
