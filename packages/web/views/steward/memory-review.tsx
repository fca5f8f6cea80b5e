// What waits for the user: entries that look like instructions, and what the agent asks for.
import type { ApiAnswerOf } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Ago } from '../../parts/texts.tsx';
import { MemoryEntry } from './memory-entry.tsx';
import { AGAIN_MS, useDecision } from './use-steward.ts';

type MemoryRequest = ApiAnswerOf<'stewardMemoryReview'>['requests'][number];

/** Nothing while nothing waits. */
export function MemoryReview() {
  const { data } = useQuery({ ...asked('stewardMemoryReview'), refetchInterval: AGAIN_MS });
  if (data === undefined || data.entries.length + data.requests.length === 0) return null;
  return (
    <section aria-label="Waits for you" className="flex flex-col gap-1">
      <h2 className="text-12 text-dim">Waits for you</h2>
      <ul className="flex flex-col">
        {data.requests.map((request) => (
          <Request key={request.id} request={request} />
        ))}
        {data.entries.map((entry) => (
          <MemoryEntry key={entry.id} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

const ASKS = { forget: 'forget everything that holds', core: 'set the core fact' } as const;

function Request({ request }: { readonly request: MemoryRequest }) {
  const { id, kind, text, reason, created_at_ms } = request;
  const mayAct = useMay('owner');
  const decide = useDecision((verdict: 'accept' | 'reject') =>
    post('stewardDecideMemory', { id, verdict }),
  );
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 border-b border-line py-2">
      <div className="min-w-60 flex-1">
        <p className="break-words whitespace-pre-wrap">
          Steward asks to {ASKS[kind]} “{plainText(text)}”
        </p>
        <p className="text-12 text-dim">
          {plainText(reason)} · <Ago atMs={created_at_ms} />
        </p>
        {decide.error !== null && <FailureText cause={decide.error} />}
      </div>
      {mayAct && (
        <div className="flex gap-2">
          <Button
            look="danger"
            className="max-md:h-11"
            disabled={decide.isPending}
            onClick={() => decide.mutate('reject')}
          >
            Reject
          </Button>
          <Button
            look="primary"
            className="max-md:h-11"
            disabled={decide.isPending}
            onClick={() => decide.mutate('accept')}
          >
            Accept
          </Button>
        </div>
      )}
    </li>
  );
}
