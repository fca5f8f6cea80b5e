// How one gets in: by the link of `sub ui`, whose code stands behind the # of the address, or by a key of the gateway.
import { LOGIN_PATH } from '@subluminal/contracts';
import { useEffect, useState } from 'react';
import { goTo } from '../address/address.ts';
import { ApiFailure } from '../api/request.ts';
import { logIn } from '../api/session.ts';
import { Button, CommandLine } from '../parts/buttons.tsx';
import { FailureText } from '../parts/failure-text.tsx';

interface LoginProps {
  /** Called when there is a session. */
  readonly onDone: () => void;
}

/** The code of a link; it is taken out of the address, and out of the history. */
function takeCode(): string {
  const { pathname, hash } = globalThis.location;
  if (pathname !== LOGIN_PATH || hash.length <= 1) return '';
  goTo({ path: [] }, 'replace');
  return hash.slice(1);
}

const linkCode = takeCode();

export function hasLinkCode(): boolean {
  return linkCode !== '';
}

export function LinkLogin({ onDone }: LoginProps) {
  const [cause, setCause] = useState<unknown>();
  useEffect(() => {
    logIn({ code: linkCode }).then(onDone, setCause);
  }, [onDone]);
  return cause === undefined ? null : <LoginHelp cause={cause} onDone={onDone} />;
}

export function LoginHelp({ cause, onDone }: LoginProps & { readonly cause: unknown }) {
  return (
    <main className="mx-auto flex max-w-[400px] flex-col gap-4 px-4 py-16">
      <h1 className="text-20">Subluminal</h1>
      {hasCode(cause, 'SUB_GATEWAY_KEY') ? (
        <KeyLogin onDone={onDone} />
      ) : (
        <>
          {hasCode(cause, 'SUB_API_TOKEN') ? (
            <p>This browser is not logged in, or its session has ended.</p>
          ) : (
            <FailureText cause={cause} />
          )}
          <section className="flex flex-col gap-2">
            <p>On your own machine, this command opens the page with a link that works once:</p>
            <CommandLine command="sub ui" />
          </section>
        </>
      )}
    </main>
  );
}

/** Who asks without a session is told by a code: that of a gateway, or that of the ledger daemon. */
function hasCode(cause: unknown, code: 'SUB_GATEWAY_KEY' | 'SUB_API_TOKEN'): boolean {
  return cause instanceof ApiFailure && cause.code === code;
}

function KeyLogin({ onDone }: LoginProps) {
  const [key, setKey] = useState('');
  const [cause, setCause] = useState<unknown>();
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    logIn({ api_key: key.trim() }).then(onDone, setCause);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <label htmlFor="key">Log in with your API key of this gateway:</label>
      <input
        id="key"
        type="password"
        autoComplete="off"
        value={key}
        onChange={({ target }) => setKey(target.value)}
        className="h-8 rounded-4 border border-line bg-page px-2 font-mono"
      />
      {cause !== undefined && <FailureText cause={cause} />}
      <Button type="submit" look="primary" disabled={key.trim() === ''} className="justify-center">
        Log in
      </Button>
      <p className="text-dim">
        A key comes from an invite of an admin. This command takes the invite:
      </p>
      <CommandLine command={`sub login --gateway ${globalThis.location.origin} --invite -`} />
    </form>
  );
}
