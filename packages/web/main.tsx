// Mounts the page: first the session, then everything else.
import { QueryCache, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useStreamState } from './api/live-signal.ts';
import { ApiFailure } from './api/request.ts';
import { askSession, SessionContext } from './api/session.ts';
import { hasLinkCode, LinkLogin, LoginHelp } from './app/login.tsx';
import { Shell } from './app/shell.tsx';
import { useTheme } from './parts/theme.ts';
import './style/base.css';

const RETRIES_MAX = 2;
const AGAIN_MS = 3_000;
const SESSION = ['session'];
const client = new QueryClient({
  queryCache: new QueryCache({
    onError: (cause, { queryKey }) => {
      // A gateway has no stream that would be lost with its session.
      const isOther = queryKey[0] !== SESSION[0];
      if (isOther && isOver(cause)) void client.invalidateQueries({ queryKey: SESSION });
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // What the server refuses, it will refuse again.
      retry: (count, cause) =>
        count < RETRIES_MAX &&
        (!(cause instanceof ApiFailure) || cause.status === 0 || cause.status >= 500),
    },
  },
});

/** The session has ended, or there was none. */
function isOver(cause: unknown): boolean {
  return cause instanceof ApiFailure && cause.status === 401;
}

function App() {
  // Light or dark from the first view on, whichever it is.
  useTheme();
  const [isLinked, setLinked] = useState(!hasLinkCode());
  return isLinked ? <Page /> : <LinkLogin onDone={() => setLinked(true)} />;
}

function Page() {
  const isLost = useStreamState() === 'lost';
  const session = useQuery({
    queryKey: SESSION,
    queryFn: ({ signal }) => askSession(signal),
    // A server that is gone comes back by itself; a session that has ended does not.
    refetchInterval: ({ state }) => (isLost && !isOver(state.error) ? AGAIN_MS : false),
  });
  if (session.data !== undefined && !isOver(session.error)) {
    return (
      <SessionContext value={session.data}>
        <Shell />
      </SessionContext>
    );
  }
  if (session.error === null) return null;
  return <LoginHelp cause={session.error} onDone={() => void session.refetch()} />;
}

const root = document.querySelector('#app');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
