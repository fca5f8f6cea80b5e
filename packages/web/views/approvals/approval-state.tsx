import type { ApiApproval } from '@subluminal/contracts';

const INKS: { readonly [state in ApiApproval['state']]: string } = {
  pending: 'text-ask-ink',
  approved: 'text-allow-ink',
  rejected: 'text-block-ink',
  expired: 'text-dim',
  cancelled: 'text-dim',
};

export function ApprovalState({ state }: { readonly state: ApiApproval['state'] }) {
  return <span className={INKS[state]}>{state === 'pending' ? 'waits' : state}</span>;
}
