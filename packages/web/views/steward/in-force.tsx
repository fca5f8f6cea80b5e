// The skills, servers and tools that Steward was given, each of which can be taken away again.
import type { ApiAnswerOf } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Value } from '../../parts/texts.tsx';
import { AGAIN_MS, useDecision } from './use-steward.ts';

type ActivePart = ApiAnswerOf<'stewardExpansion'>['parts'][number];

export function InForce() {
  const { data, error } = useQuery({ ...asked('stewardExpansion'), refetchInterval: AGAIN_MS });
  if (data === undefined) return error === null ? null : <FailureText cause={error} />;
  const { parts, problems } = data;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="flex max-w-[1280px] flex-col gap-4 p-4 max-sm:p-3">
        {parts.length === 0 && (
          <EmptyState title="No skill, server or tool was added.">
            What you merge of Steward's proposals stands here, and can be revoked.
          </EmptyState>
        )}
        <ul aria-label="In force">
          {parts.map((part) => (
            <PartInForce key={`${part.kind} ${part.name}`} part={part} />
          ))}
        </ul>
        {problems.length > 0 && (
          <div role="note" className="border-l-2 border-throttle px-3 py-1">
            <p>This is there, and not used:</p>
            <ul className="list-disc pl-4">
              {problems.map((words) => (
                <li key={words} className="break-words">
                  {plainText(words)}
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </div>
  );
}

function PartInForce({ part: { kind, name, about } }: { readonly part: ActivePart }) {
  const mayAct = useMay('owner');
  const [isAsking, setAsking] = useState(false);
  const revoke = useDecision(() => post('stewardRevoke', { kind, name }));
  return (
    <li className="flex min-h-8 items-center gap-2 border-b border-line py-1">
      <span className="w-12 shrink-0 text-dim">{kind}</span>
      <span className="flex min-w-0 flex-1 flex-col">
        <Value text={name} />
        <span className="break-words text-dim">{plainText(about)}</span>
      </span>
      {mayAct && (
        <Button
          look="danger"
          className="max-md:h-11"
          aria-label={`Revoke ${plainText(name)}…`}
          onClick={() => setAsking(true)}
        >
          Revoke…
        </Button>
      )}
      {isAsking && (
        <AskFirst
          title={`Revoke the ${kind} ${plainText(name)}?`}
          action="Revoke"
          error={revoke.error}
          isPending={revoke.isPending}
          onNo={() => setAsking(false)}
          onYes={() => revoke.mutate(undefined, { onSuccess: () => setAsking(false) })}
        >
          <p>
            Steward has it no longer, also in conversations that are open. It stands among the
            proposals as a change that can be taken back.
          </p>
        </AskFirst>
      )}
    </li>
  );
}
