// The policy of a gateway, as it is in force. Its files are changed where they are kept.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { askedGateway } from '../../api/gateway.ts';
import { useMay } from '../../api/session.ts';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { wholeTurn } from './plain-envelope.ts';

export function GatewayPolicy() {
  const maySee = useMay('platform_admin');
  const mayExplain = useMay('team_admin');
  const { data, error } = useQuery({ ...askedGateway('policyCurrent'), enabled: maySee });
  return (
    <>
      <ViewHead title="Policy">
        {data !== undefined && (
          <span className="text-dim">
            version <Value text={data.version} lengthMax={24} />
          </span>
        )}
      </ViewHead>
      {error !== null && <FailureText cause={error} />}
      <div className="flex min-h-0 flex-1 max-md:flex-col max-md:overflow-y-auto">
        <div className="min-w-0 flex-1 overflow-y-auto p-3">
          {data !== undefined && <JsonTree value={data.policy} />}
          {!maySee && (
            <EmptyState title="The policy is shown to admins of the platform.">
              What it decides about a turn can be explained by an admin of a team.
            </EmptyState>
          )}
        </div>
        {mayExplain && <Explain />}
      </div>
    </>
  );
}

const EXAMPLE = `{
  "request": { "model": "claude-opus-4-7" },
  "classifier": { "task_type": "code_edit" }
}`;

function Explain() {
  const [text, setText] = useState(EXAMPLE);
  const [tried, setTried] = useState('');
  const [fault, setFault] = useState<unknown>(null);
  const tryIt = () => {
    try {
      setTried(wholeTurn(text));
      setFault(null);
    } catch (cause) {
      setFault(cause);
    }
  };
  const explain = useQuery({
    ...askedGateway('explain', { query: { input: tried } }),
    enabled: tried !== '',
    placeholderData: keepPreviousData,
  });
  return (
    <section
      aria-label="Explain"
      className="flex w-[480px] shrink-0 flex-col gap-3 overflow-y-auto border-l border-line p-3 max-md:w-full max-md:border-t max-md:border-l-0"
    >
      <label className="flex flex-col gap-1">
        <span className="text-12 text-dim">A turn, as JSON: what would be decided</span>
        <textarea
          value={text}
          spellCheck={false}
          rows={8}
          onChange={({ target }) => setText(target.value)}
          className="resize-y rounded-4 border border-line bg-page p-2 font-mono text-12"
        />
      </label>
      <div>
        <Button disabled={explain.isFetching} onClick={tryIt}>
          Explain
        </Button>
      </div>
      {(fault ?? explain.error) !== null && <FailureText cause={fault ?? explain.error} />}
      {explain.data !== undefined && (
        <JsonTree value={{ decision: explain.data.decision, rules: explain.data.rules }} />
      )}
    </section>
  );
}
