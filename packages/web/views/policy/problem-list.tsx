import { MARK_LOOKS } from '../../parts/code-editor.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import type { PolicyLintState } from './policy-editor.tsx';

interface ProblemListProps {
  readonly lint: PolicyLintState;
  readonly onLine: (line: number) => void;
}

export function ProblemList({ lint, onLine }: ProblemListProps) {
  const { problems, error, isOfNow } = lint;
  if (error !== null) return <FailureText cause={error} />;
  if (problems.length === 0) return <p className="text-dim">{isOfNow ? 'No problems.' : ' '}</p>;
  return (
    <ul className={isOfNow ? '' : 'opacity-60'}>
      {problems.map(({ line, column, severity, code, message, fix }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- The same may stand twice on a line.
        <li key={at} className="border-b border-line">
          <button
            type="button"
            className="flex w-full gap-2 py-1 text-left hover:bg-hover"
            onClick={() => onLine(line)}
          >
            <span className={MARK_LOOKS[severity].className}>
              <span aria-hidden="true">{MARK_LOOKS[severity].shape}</span>
              <span className="sr-only">{severity}</span>
            </span>
            <span className="w-12 shrink-0 text-right font-mono text-12 text-dim">
              {line}:{column}
            </span>
            <span className="min-w-0 flex-1 break-words">
              {plainText(message)} <span className="text-dim">{plainText(fix)}</span>{' '}
              <span className="font-mono text-12 text-dim">{code}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
