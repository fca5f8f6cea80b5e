// Mounts the page: first the session, then everything else.
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
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
const client = new QueryClient({
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

function App() {
  // Light or dark from the first view on, whichever it is.
  useTheme();
  const [isLinked, setLinked] = useState(!hasLinkCode());
  return isLinked ? <Page /> : <LinkLogin onDone={() => setLinked(true)} />;
}

function Page() {
  const isLost = useStreamState() === 'lost';
  const session = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => askSession(signal),
    // A server that is gone comes back by itself; a session that has ended does not.
    refetchInterval: isLost ? AGAIN_MS : false,
  });
  const isOver = session.error instanceof ApiFailure && session.error.status === 401;
  if (session.data !== undefined && !isOver) {
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
