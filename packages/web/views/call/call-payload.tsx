// Arguments and result as the ledger keeps them: without secrets, and cut where they were long.
import type { ApiCallRecord } from '@subluminal/contracts';
import { useMemo, useState } from 'react';
import { EditDiff } from '../../parts/edit-diff.tsx';
import { fileEdits } from '../../parts/file-edits.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { PanelSection } from './panel-section.tsx';

const REDACTED = /\[REDACTED[^\]]*\]/g;
const TEXT_SHOWN = 4_000;

export function CallArguments({ record }: { readonly record: ApiCallRecord }) {
  const { call, not_whole } = record;
  const text = call.args_preview;
  const args = useMemo(() => record.arguments ?? parsed(text), [record.arguments, text]);
  const hasEdits = useMemo(() => fileEdits(args).length > 0, [args]);
  return (
    <>
      {hasEdits && (
        <PanelSection title="File edits">
          <EditDiff args={args} />
        </PanelSection>
      )}
      <PanelSection
        title={call.kind === 'turn' ? 'Request' : 'Arguments'}
        isOpen={!hasEdits}
        note={<PayloadMarks text={text} isCut={not_whole.arguments !== null} />}
      >
        <Payload value={args} text={text} notWhole={not_whole.arguments} />
      </PanelSection>
    </>
  );
}

export function CallResult({ record }: { readonly record: ApiCallRecord }) {
  const { call, not_whole } = record;
  const text = call.result_preview;
  const value = useMemo(() => parsed(text), [text]);
  return (
    <PanelSection
      title="Result"
      note={<PayloadMarks text={text} isCut={not_whole.result !== null} />}
    >
      <Payload value={value} text={text} notWhole={not_whole.result} />
      {call.error_message !== null && (
        <p className="mt-1 text-danger">{plainText(call.error_message)}</p>
      )}
    </PanelSection>
  );
}

/** What is missing: stretches that were taken out, and an end that was cut. */
function PayloadMarks({ text, isCut }: { readonly text: string | null; readonly isCut: boolean }) {
  const redacted = text?.match(REDACTED)?.length ?? 0;
  return (
    <span className="flex gap-2 text-throttle-ink">
      {redacted > 0 && <span>{redacted} redacted</span>}
      {isCut && text !== null && <span>not whole</span>}
    </span>
  );
}

interface PayloadProps {
  readonly value: unknown;
  readonly text: string | null;
  readonly notWhole: string | null;
}

function Payload({ value, text, notWhole }: PayloadProps) {
  // The reason says it all.
  if (notWhole !== null && text === null) return <p className="text-dim">{plainText(notWhole)}</p>;
  return (
    <>
      {notWhole !== null && <p className="mb-1 text-throttle-ink">{plainText(notWhole)}</p>}
      {typeof value === 'object' && value !== null ? (
        <JsonTree value={value} />
      ) : (
        <PlainPayload text={text} />
      )}
    </>
  );
}

function PlainPayload({ text }: { readonly text: string | null }) {
  const [isWhole, setWhole] = useState(false);
  if (text === null || text === '') return <p className="text-dim">Nothing is kept of it.</p>;
  const shown = isWhole ? text : text.slice(0, TEXT_SHOWN);
  return (
    <>
      <pre className="overflow-x-auto font-mono text-12 break-words whitespace-pre-wrap">
        {plainText(shown)}
      </pre>
      {shown.length < text.length && (
        <button type="button" className="text-accent" onClick={() => setWhole(true)}>
          Show all
        </button>
      )}
    </>
  );
}

/** Undefined where it is no JSON, as when it was cut. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
