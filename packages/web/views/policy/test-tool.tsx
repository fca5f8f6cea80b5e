import { useMutation } from '@tanstack/react-query';
import { post } from '../../api/ledger.ts';
import { Button } from '../../parts/buttons.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Value } from '../../parts/texts.tsx';
import { type GivenPolicy, givenBody } from './given-policy.ts';
import { OldResult } from './old-result.tsx';

interface TestToolProps {
  readonly given: GivenPolicy;
  readonly tests: string;
  readonly onTests: (tests: string) => void;
}

export function TestTool({ given, tests, onTests }: TestToolProps) {
  const run = useMutation({
    mutationFn: (asked: GivenPolicy) =>
      post('policyTest', { ...givenBody(asked), ...(tests.trim() !== '' && { tests }) }),
  });
  return (
    <div className="flex flex-col gap-3">
      <label className="flex flex-col gap-1">
        <span className="text-12 text-dim">
          Tests, as `sub policy test` takes them; without any, those beside the file
        </span>
        <textarea
          value={tests}
          spellCheck={false}
          wrap="off"
          rows={10}
          onChange={({ target }) => onTests(target.value)}
          className="resize-y rounded-4 border border-line bg-page p-2 font-mono text-12"
        />
      </label>
      <div>
        <Button disabled={run.isPending} onClick={() => run.mutate(given)}>
          Run tests
        </Button>
      </div>
      {run.error !== null && <FailureText cause={run.error} />}
      {run.data !== undefined && (
        <>
          {run.variables.text !== given.text && <OldResult />}
          <p role="status">
            {run.data.summary.passed} passed, {run.data.summary.failed} failed
          </p>
          <ul>
            {run.data.tests.map(({ name, line, passed, faults, decision, rule }) => (
              <li key={`${line} ${name}`} className="border-b border-line py-1">
                <div className="flex gap-2">
                  <span className={passed ? 'text-allow-ink' : 'text-danger'}>
                    {passed ? '✓ passed' : '✗ failed'}
                  </span>
                  <span className="min-w-0 flex-1 break-words">{plainText(name)}</span>
                  <DecisionMark decision={decision} />
                  {rule !== null && <Value text={rule} lengthMax={24} />}
                </div>
                {faults.map((fault) => (
                  <p key={fault} className="break-words text-dim">
                    {plainText(fault)}
                  </p>
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
