// The policy in force, what its rules did, and a place to change it.
import type { ApiPolicyActive } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { goTo, useAddress } from '../../address/address.ts';
import { asked } from '../../api/ledger.ts';
import { useMay, useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { ViewHead } from '../../parts/view-head.tsx';
import { ActivePolicy } from './active-policy.tsx';
import { GatewayPolicy } from './gateway-policy.tsx';
import { PolicyEditor } from './policy-editor.tsx';

export function PolicyView() {
  return useSession().plane === 'ledger' ? <LedgerPolicy /> : <GatewayPolicy />;
}

/** Hits are counted while one looks. */
const AGAIN_MS = 15_000;

function LedgerPolicy() {
  const { params } = useAddress();
  const file = params['file'];
  const mayEdit = useMay('owner');
  const question = { query: file === undefined ? {} : { path: file } };
  const { data, error } = useQuery({
    ...asked('policyActive', question),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const isEditing = params['tab'] === 'edit' && mayEdit;
  const tabs = [
    { title: 'Active', to: { params: { tab: '' } }, isHere: !isEditing },
    ...(mayEdit ? [{ title: 'Edit', to: { params: { tab: 'edit' } }, isHere: isEditing }] : []),
  ];
  return (
    <>
      <ViewHead title="Policy" tabs={tabs} command={lintCommand(data?.path ?? null)}>
        {data !== undefined && <FileChoice active={data} />}
      </ViewHead>
      {error !== null && <FailureText cause={error} />}
      {data !== undefined &&
        (isEditing ? (
          <PolicyEditor key={data.path} active={data} />
        ) : data.text === null && data.rules.length === 0 ? (
          <NoPolicy active={data} />
        ) : (
          <ActivePolicy active={data} />
        ))}
    </>
  );
}

function lintCommand(path: string | null): string {
  return path === null ? 'sub policy lint' : `sub policy lint ${shellWord(path, 'FILE')}`;
}

const ROLES = {
  named: 'named by the configuration',
  user: 'yours',
  trusted: 'of a project, trusted',
  untrusted: 'of a project, only tightens',
} as const;

function FileChoice({ active }: { readonly active: ApiPolicyActive }) {
  const { path, policy_id, version, mode } = active;
  return (
    <>
      <select
        aria-label="Policy file"
        value={path ?? ''}
        onChange={({ target }) => goTo({ params: { file: target.value, rule: '' } })}
        className="h-7 max-w-[420px] min-w-0 rounded-4 border border-line bg-page px-1 font-mono text-12 max-md:h-11 max-md:w-full"
      >
        {path !== null && !active.others.some((one) => one.path === path) && (
          <option value={path}>{plainLine(path)}</option>
        )}
        {active.others.map((one) => (
          <option key={one.path} value={one.path}>
            {`${plainLine(one.path)} (${ROLES[one.role]}${one.exists ? '' : ', not there'})`}
          </option>
        ))}
      </select>
      {policy_id !== null && (
        <span className="text-dim">
          {plainLine(policy_id)} {plainLine(version ?? '')}, mode {mode}
          {active.role === 'untrusted' && ', not trusted: it only tightens yours'}
        </span>
      )}
    </>
  );
}

function NoPolicy({ active }: { readonly active: ApiPolicyActive }) {
  const [problem] = active.problems;
  if (problem !== undefined) {
    return (
      <EmptyState title="The policy cannot be read." command="sub policy lint">
        {plainLine(`Line ${problem.line}: ${problem.message} ${problem.fix}`)}
      </EmptyState>
    );
  }
  return (
    <EmptyState title="There is no policy yet." command="sub init">
      Without one, calls are recorded and nothing is refused, unless a run was given a policy of its
      own with `--policy`. The command writes one for the project it is run in; under Edit you can
      also suggest one from the calls that were seen.
    </EmptyState>
  );
}
