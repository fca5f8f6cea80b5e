import { useState } from 'react';
import { post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { Ago } from '../../parts/texts.tsx';
import { type StewardMemory, useDecision } from './use-steward.ts';

const WHOSE: { readonly [provenance in StewardMemory['provenance']]: string } = {
  user_instruction: 'your own words',
  agent_observation: 'noted by the agent',
  external_content: 'text from outside',
  tool_result: 'result of a tool',
};

/** Above it, two digits would say 1.00. */
const FRESH_MIN = 0.995;

/** One thing that is remembered, with whose words it is and how far it is trusted. */
export function MemoryEntry({ entry }: { readonly entry: StewardMemory }) {
  const { id, text, provenance, source, state, reasons, tags, trust, freshness } = entry;
  const mayAct = useMay('owner');
  const [isAsking, setAsking] = useState(false);
  const confirm = useDecision(() => post('stewardConfirmMemory', { id }));
  const forget = useDecision(() => post('stewardForget', { ids: [id] }));
  const place = [source.server, source.tool].filter(Boolean).join('/');
  const facts = [
    WHOSE[provenance] + (place === '' ? '' : ` (${place})`),
    source.sender === undefined ? '' : `from ${source.sender}`,
    `trust ${trust.toFixed(2)}`,
    freshness < FRESH_MIN ? `faded to ${freshness.toFixed(2)}` : '',
    entry.confirmed_at_ms === null ? '' : 'confirmed by you',
    ...tags,
  ].filter(Boolean);
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 border-b border-line py-2">
      <div className="min-w-60 flex-1">
        <p className="break-words whitespace-pre-wrap">{plainText(text)}</p>
        <p className="text-12 text-dim">
          {plainLine(facts.join(' · '))} · <Ago atMs={entry.created_at_ms} />
        </p>
        {state !== 'active' && (
          <p className="text-12 text-throttle-ink">
            ▲ kept back{reasons.length > 0 && <>: {plainLine(reasons.join(', '))}</>}
          </p>
        )}
        {confirm.error !== null && <FailureText cause={confirm.error} />}
      </div>
      {mayAct && (
        <div className="flex gap-2">
          {entry.confirmed_at_ms === null && (
            <Button
              className="max-md:h-11"
              disabled={confirm.isPending}
              onClick={() => confirm.mutate(undefined)}
            >
              Confirm
            </Button>
          )}
          <Button look="danger" className="max-md:h-11" onClick={() => setAsking(true)}>
            Forget…
          </Button>
        </div>
      )}
      {isAsking && (
        <AskFirst
          title="Forget this for good?"
          action="Forget"
          error={forget.error}
          isPending={forget.isPending}
          onNo={() => setAsking(false)}
          onYes={() => forget.mutate(undefined)}
        >
          <p className="max-h-40 overflow-auto break-words whitespace-pre-wrap">
            {plainText(text)}
          </p>
        </AskFirst>
      )}
    </li>
  );
}
