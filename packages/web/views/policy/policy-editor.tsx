// The policy as text to change, and the tools that try it before it is saved.
import type { ApiPolicyActive, ApiPolicySaved } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { post } from '../../api/ledger.ts';
import { Button } from '../../parts/buttons.tsx';
import { CodeEditor, showLine } from '../../parts/code-editor.tsx';
import { useDebounced } from '../../parts/debounced.ts';
import { plainText } from '../../parts/plain-text.ts';
import { DiffTool } from './diff-tool.tsx';
import { ProblemList } from './problem-list.tsx';
import { ReplayTool } from './replay-tool.tsx';
import { SaveDialog } from './save-dialog.tsx';
import { SuggestTool } from './suggest-tool.tsx';
import { TestTool } from './test-tool.tsx';
import { type EditedPolicy, useDraft } from './use-draft.ts';

const TOOLS = [
  ['problems', 'Problems'],
  ['tests', 'Tests'],
  ['diff', 'Diff'],
  ['replay', 'Replay'],
  ['suggest', 'Suggest'],
] as const;

export function PolicyEditor({ active }: { readonly active: ApiPolicyActive }) {
  const edited = useDraft(active);
  const lint = useLint(edited.text);
  const area = useRef<HTMLTextAreaElement>(null);
  const [tests, setTests] = useState(active.tests?.text ?? '');
  const { params } = useAddress();
  const tool = params['tool'] ?? 'problems';
  const given = { text: edited.text, path: active.path };
  if (!active.editable) {
    return (
      <p className="px-4 py-12 text-center text-dim">
        This policy is compiled or too large: it cannot be edited here.
      </p>
    );
  }
  return (
    <div className="flex min-h-0 flex-1 max-md:flex-col">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <CodeEditor
          label="Policy text"
          text={edited.text}
          onText={edited.setText}
          marks={lint.problems.map(({ line, severity }) => ({ line, kind: severity }))}
          area={area}
        />
        <SaveBar active={active} edited={edited} isClean={lint.isClean} />
      </div>
      <div className="flex w-[480px] shrink-0 flex-col border-l border-line max-xl:w-[360px] max-md:h-1/2 max-md:w-full max-md:border-t max-md:border-l-0">
        <ToolTabs tool={tool} problems={lint.problems.length} />
        <div className="min-h-0 flex-1 overflow-y-auto p-3">
          {tool === 'tests' ? (
            <TestTool given={given} tests={tests} onTests={setTests} />
          ) : tool === 'diff' ? (
            <DiffTool given={given} before={active.text ?? ''} />
          ) : tool === 'replay' ? (
            <ReplayTool given={given} />
          ) : tool === 'suggest' ? (
            <SuggestTool edited={edited} />
          ) : (
            <ProblemList lint={lint} onLine={(line) => showLine(area.current, line)} />
          )}
        </div>
      </div>
    </div>
  );
}

function useLint(text: string) {
  const settled = useDebounced(text);
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['policyLint', settled],
    queryFn: () => post('policyLint', { text: settled }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const isOfNow = data !== undefined && !isPlaceholderData && settled === text;
  return { problems: data?.problems ?? [], error, isOfNow, isClean: isOfNow && data.ok };
}

export type PolicyLintState = ReturnType<typeof useLint>;

function ToolTabs({ tool, problems }: { readonly tool: string; readonly problems: number }) {
  return (
    <nav aria-label="Tools" className="flex shrink-0 overflow-x-auto border-b border-line px-1">
      {TOOLS.map(([id, title]) => (
        <Link
          key={id}
          to={{ params: { tool: id === 'problems' ? '' : id } }}
          aria-current={tool === id ? 'true' : undefined}
          className={`flex h-8 items-center gap-1 border-b-2 px-2 max-md:h-11 ${tool === id ? 'border-accent' : 'border-transparent text-dim hover:text-ink'}`}
        >
          {title}
          {id === 'problems' && problems > 0 && <span className="text-12">{problems}</span>}
        </Link>
      ))}
    </nav>
  );
}

interface SaveBarProps {
  readonly active: ApiPolicyActive;
  readonly edited: EditedPolicy;
  readonly isClean: boolean;
}

function SaveBar({ active, edited, isClean }: SaveBarProps) {
  const [isAsked, setAsked] = useState(false);
  const [saved, setSaved] = useState<ApiPolicySaved>();
  const { isDirty, isStale } = edited;
  const state = isStale
    ? 'The file changed since you began to edit it.'
    : isDirty
      ? 'Not saved.'
      : saved === undefined
        ? 'No changes.'
        : '';
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-2 border-t border-line bg-raised px-3 py-1">
      <Button
        look="primary"
        disabled={!isDirty || isStale || !isClean}
        title={isClean ? undefined : 'Only a policy without errors can be saved.'}
        className="max-md:h-11"
        onClick={() => setAsked(true)}
      >
        Save policy…
      </Button>
      {isStale && (
        <Button className="max-md:h-11" onClick={edited.rebase}>
          Keep my text
        </Button>
      )}
      {isDirty && (
        <Button className="max-md:h-11" onClick={edited.discard}>
          {isStale ? 'Load again' : 'Discard'}
        </Button>
      )}
      <span role="status" className={isStale ? 'text-danger' : 'text-dim'}>
        {state}
        {!isDirty && saved !== undefined && savedWords(saved)}
      </span>
      {isAsked && (
        <SaveDialog
          active={active}
          edited={edited}
          onClose={() => setAsked(false)}
          onSaved={(answer) => {
            setSaved(answer);
            setAsked(false);
          }}
        />
      )}
    </div>
  );
}

function savedWords({ backup, notes }: ApiPolicySaved): string {
  const kept = backup === null ? [] : [`What stood there before is kept in ${backup}.`];
  return plainText(['Saved.', ...notes, ...kept].join(' '));
}
