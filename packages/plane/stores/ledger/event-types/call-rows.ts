// What the start, the decision and the end of a call add to its row, whatever its subject.
import type { ContentOutcome, EventOf } from '@subluminal/contracts';
import { addHint, addPreview, type CallChange, type Projection } from '../store/projection.ts';
import { FLAGS } from '../store/tables.ts';

export function addStart(
  change: CallChange,
  { call }: EventOf<'tool_call_start' | 'turn_start'>,
  classes: readonly string[] | undefined,
): void {
  const { transport, bytes_in, seq: call_seq, preview } = call;
  Object.assign(change.row, { transport, bytes_in, call_seq });
  addRisk(change, classes);
  if (preview.truncated) change.row.preview_truncated = 1;
  const flags =
    (preview.truncated ? FLAGS.argsTruncated : 0) |
    (preview.previews_dropped === true ? FLAGS.argsDropped : 0) |
    (isPruned(preview) ? FLAGS.argsPruned : 0);
  addPreview(change, { args_seq: preview.args_preview === undefined ? null : change.seq }, flags);
}

export function addDecision(
  into: Projection,
  change: CallChange,
  {
    event,
    atMs,
  }: { readonly event: EventOf<'tool_call_decision' | 'turn_decision'>; readonly atMs: number },
): void {
  const { action, rule_id, severity, explain, would, hint } = event.decision;
  Object.assign(change.row, {
    decision: action,
    rule_id,
    severity,
    reason_code: explain.reason_code,
    summary: explain.summary,
    would_action: would?.action ?? null,
    would_rule_id: would?.rule_id ?? null,
    args_content_json: contentJson(event.call.content),
  });
  addRisk(change, event.call.risk_class);
  if (hint !== undefined) addHint(into, change.row, { ...hint, atMs });
}

export function addEnd(change: CallChange, event: EventOf<'tool_call_end' | 'turn_end'>): void {
  const { status, latency_ms, bytes_out, preview, error, call } = event;
  Object.assign(change.row, {
    status,
    latency_ms,
    bytes_out,
    error_class: error?.class ?? null,
    error_message: error?.message ?? null,
    result_content_json: contentJson(call.content),
  });
  if (preview.truncated) change.row.preview_truncated = 1;
  const flags =
    (preview.truncated ? FLAGS.resultTruncated : 0) |
    (preview.previews_dropped === true ? FLAGS.resultDropped : 0) |
    (isPruned(preview) ? FLAGS.resultPruned : 0);
  const result_seq = preview.result_preview === undefined ? null : change.seq;
  addPreview(change, { result_seq }, flags);
}

/** Of what later versions may add, nothing is kept. */
function contentJson(content: ContentOutcome | undefined): string | null {
  if (content === undefined) return null;
  return JSON.stringify({ action: content.action, findings: content.findings });
}

function addRisk(change: CallChange, classes: readonly string[] | undefined): void {
  if (classes !== undefined) change.row.risk_json = JSON.stringify(classes);
}

/** The mark that pruning leaves where a preview was. */
function isPruned(preview: object): boolean {
  return 'pruned' in preview && preview.pruned === true;
}
