// Secrets by name: where each is kept, and which servers get it. Values never leave the server of the page.
import type { ApiSecrets } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import { asked } from '../../api/ledger.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Ago, Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';

type Secret = ApiSecrets['rows'][number];

export function SecretsView() {
  const { data, error } = useQuery(asked('secrets'));
  return (
    <>
      <ViewHead title="Secrets" command="sub secrets list" />
      <div className="min-h-0 flex-1 overflow-auto">
        {error !== null && <FailureText cause={error} />}
        {data !== undefined && <StoreLine store={data.store} />}
        {data?.rows.length === 0 && (
          <EmptyState title="No secrets yet." command="sub secrets add NAME">
            A secret is given to a server when it starts; the agent never sees it.
          </EmptyState>
        )}
        {data !== undefined && data.rows.length > 0 && <SecretTable rows={data.rows} />}
      </div>
    </>
  );
}

const PROTECTIONS = {
  keychain: 'The key of the store is in the keychain of this machine.',
  passphrase: 'The key of the store is derived from a passphrase.',
  file: 'The key of the store is in a private file.',
} as const;

function StoreLine({ store }: { readonly store: ApiSecrets['store'] }) {
  if (store.problem !== null) {
    return (
      <p role="alert" className="border-b border-line px-3 py-1 text-danger">
        {plainText(store.problem)}
      </p>
    );
  }
  if (store.protection === null) return null;
  return <p className="border-b border-line px-3 py-1 text-dim">{PROTECTIONS[store.protection]}</p>;
}

function SecretTable({ rows }: { readonly rows: readonly Secret[] }) {
  return (
    <table className="w-full text-left">
      <thead className="text-12 text-dim">
        <tr className="h-7 border-b border-line bg-raised">
          <th className="px-3 font-normal">Name</th>
          <th className="px-3 font-normal max-sm:hidden">Kept in</th>
          <th className="px-3 font-normal">Given to</th>
          <th className="px-3 font-normal">Last used</th>
          <th className="px-3 font-normal max-md:hidden">Last changed</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} className="border-b border-line align-top">
            <td className="px-3 py-1">
              <Value text={row.name} />
              {row.is_stored === false && <span className="ml-2 text-danger">not stored</span>}
            </td>
            <td className="px-3 py-1 max-sm:hidden">{row.source}</td>
            <td className="px-3 py-1">
              <Bindings secret={row} />
            </td>
            <td className="px-3 py-1">
              <LastUse secret={row} />
            </td>
            <td className="px-3 py-1 max-md:hidden">
              <Changed secret={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const BOUND = { any: '', command: 'one command only', url: 'one address only' } as const;

function Bindings({ secret }: { readonly secret: Secret }) {
  if (secret.bindings.length === 0) {
    return <span className="text-dim">{secret.used_by_login ? 'a login' : 'no server'}</span>;
  }
  return (
    <ul>
      {secret.bindings.map(({ server_name, inject_as, redact, bound_to }) => (
        <li key={`${server_name} ${inject_as}`}>
          <Value text={server_name} /> as <Value text={inject_as} />
          <span className="ml-2 text-dim">
            {[BOUND[bound_to], redact ? '' : 'not redacted'].filter(Boolean).join(', ')}
          </span>
        </li>
      ))}
    </ul>
  );
}

function LastUse({ secret }: { readonly secret: Secret }) {
  if (secret.last_used_at_ms === null) return <span className="text-dim">never</span>;
  return (
    <>
      <Ago atMs={secret.last_used_at_ms} />
      {secret.last_use_ok === false && <span className="ml-2 text-danger">not found</span>}
    </>
  );
}

function Changed({ secret }: { readonly secret: Secret }) {
  const atMs = Date.parse(secret.rotated_at ?? secret.added_at ?? '');
  return Number.isNaN(atMs) ? <span className="text-dim">unknown</span> : <Ago atMs={atMs} />;
}
