import { type ReactNode, useEffect, useId, useState } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/buttons.tsx';
import { useShortcut } from '../../parts/shortcuts.ts';
import { useWindowWidth } from '../../parts/window-width.ts';
import { AUDIT_FILTERS } from './audit-query.ts';

/** What a gateway records today; another one may be typed. */
const EVENT_TYPES = [
  'turn',
  'turn_blocked',
  'turn_over_budget',
  'turn_unroutable',
  'tokens_counted',
  'approval_pending',
  'approval_resolved',
  'reservation_expired',
  'page_login',
  'key_created',
  'key_revoked',
  'keys_revoked',
  'invite_created',
  'invite_used',
  'invite_removed',
  'role_changed',
  'setup_completed',
  'repo_bound',
  'policy_reloaded',
  'webhook_added',
  'webhook_removed',
];

const WIDE = 'w-44 max-md:w-full';

const PHONE_WIDTH = 768;

/** On a phone they fold, so that events are seen. */
export function AuditFilters({ children }: { readonly children?: ReactNode }) {
  const isNarrow = useWindowWidth() < PHONE_WIDTH;
  const fields = <FilterFields>{children}</FilterFields>;
  return isNarrow ? (
    <details>
      <summary className="flex h-11 cursor-pointer items-center border-b border-line px-3 text-accent">
        Filters
      </summary>
      {fields}
    </details>
  ) : (
    fields
  );
}

function FilterFields({ children }: { readonly children?: ReactNode }) {
  const { params } = useAddress();
  const types = useId();
  const isAdmin = useMay('team_admin');
  const isPlatformAdmin = useMay('platform_admin');
  const names = Object.keys(AUDIT_FILTERS);
  const isFiltered = names.some((name) => params[name] !== undefined);
  useShortcut('/', () => document.querySelector<HTMLElement>('#audit-type')?.focus());
  return (
    <search className="flex flex-wrap items-end gap-2 border-b border-line px-3 py-2 max-md:grid max-md:grid-cols-2">
      <FilterField name="type" label="Kind" className={WIDE} list={types} id="audit-type" />
      <datalist id={types}>
        {EVENT_TYPES.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </datalist>
      {isAdmin && <FilterField name="user" label="Person" className="w-32 max-md:w-full" />}
      {isPlatformAdmin && <FilterField name="team" label="Team" className="w-32 max-md:w-full" />}
      <FilterField name="repo" label="Repository" className="w-36 max-md:w-full" />
      <FilterField name="trace" label="Trace" className={WIDE} />
      <FilterField name="from" label="From (UTC)" type="date" className="w-36 max-md:w-full" />
      <FilterField name="to" label="Before (UTC)" type="date" className="w-36 max-md:w-full" />
      {isFiltered && (
        <Button
          onClick={() => goTo({ params: Object.fromEntries(names.map((name) => [name, ''])) })}
        >
          Clear
        </Button>
      )}
      {children}
    </search>
  );
}

interface FilterFieldProps {
  readonly name: keyof typeof AUDIT_FILTERS;
  readonly label: string;
  readonly className: string;
  readonly type?: 'text' | 'date';
  readonly list?: string;
  readonly id?: string;
}

const WAIT_MS = 250;

/** Goes into the address when typing has paused. */
function FilterField({ name, label, className, type = 'text', ...rest }: FilterFieldProps) {
  const { params } = useAddress();
  const kept = params[name] ?? '';
  const [text, setText] = useState(kept);
  // Back, forward and `Clear` change it from outside.
  const [before, setBefore] = useState(kept);
  if (before !== kept) {
    setBefore(kept);
    if (text.trim() !== kept) setText(kept);
  }
  useEffect(() => {
    const timer = setTimeout(() => goTo({ params: { [name]: text.trim() } }, 'replace'), WAIT_MS);
    return () => clearTimeout(timer);
  }, [name, text]);
  return (
    <label className={`flex flex-col gap-px ${className}`}>
      <span className="text-12 text-dim">{label}</span>
      <input
        {...rest}
        type={type}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => setText(target.value)}
        className="h-7 w-full min-w-0 rounded-4 border border-line bg-page px-2 font-mono text-12 max-md:h-11"
      />
    </label>
  );
}
