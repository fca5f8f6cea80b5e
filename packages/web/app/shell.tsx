// The frame around every view: rail, the view, the panel, and the keys that work everywhere.
import { Suspense, useEffect, useState } from 'react';
import { goTo, useAddress } from '../address/address.ts';
import { useSession } from '../api/session.ts';
import { EmptyState } from '../parts/buttons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { KeyList } from '../parts/key-list.tsx';
import { type Shortcut, useShortcut } from '../parts/shortcuts.ts';
import { LostNotice } from './connection.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { Panel } from './panel.tsx';
import { Rail } from './rail.tsx';
import { type PageView, VIEWS } from './views.ts';

export function Shell() {
  const { plane, has_steward: hasSteward = false } = useSession();
  const { path } = useAddress();
  const views = VIEWS.filter(
    ({ planes, isOfSteward = false }) => planes.includes(plane) && (hasSteward || !isOfSteward),
  );
  const [first] = views;
  const view = views.find(({ id }) => id === path[0]);
  useEffect(() => {
    if (path.length === 0 && first !== undefined) goTo({ path: [first.id] }, 'replace');
  }, [path, first]);
  useEffect(() => {
    document.title = view === undefined ? 'Subluminal' : `${view.title} · Subluminal`;
  }, [view]);
  return (
    <div className="flex h-full max-sm:flex-col">
      <Rail views={views} />
      {views.map(({ id, key }) => (
        <ViewKey key={id} id={id} letter={key} />
      ))}
      <div className="relative flex min-h-0 min-w-0 flex-1">
        <main className="flex min-w-0 flex-1 flex-col overflow-hidden">
          <Content view={view} isHome={path.length === 0} />
        </main>
        <Panel />
        <LostNotice />
      </div>
      <Keys views={views} />
    </div>
  );
}

function Content({
  view,
  isHome,
}: {
  readonly view: PageView | undefined;
  readonly isHome: boolean;
}) {
  if (view === undefined) {
    return isHome ? null : (
      <EmptyState title="There is no such page.">Choose a view at the left.</EmptyState>
    );
  }
  const Component = view.component;
  return (
    <ErrorBoundary key={view.id}>
      <Suspense fallback={null}>
        <Component />
      </Suspense>
    </ErrorBoundary>
  );
}

function ViewKey({ id, letter }: { readonly id: string; readonly letter: string }) {
  useShortcut(`g ${letter}`, () => goTo({ path: [id] }));
  return null;
}

/** All keys, shown by `?`. */
function Keys({ views }: { readonly views: readonly PageView[] }) {
  const { plane } = useSession();
  const [isOpen, setOpen] = useState(false);
  useShortcut('?', () => setOpen(true));
  if (!isOpen) return null;
  const goTos = views.map(
    ({ key, title }): Shortcut => ({ keys: `g ${key}`, what: `Go to ${title}` }),
  );
  return (
    <Dialog title="Keys" onClose={() => setOpen(false)}>
      <KeyList plane={plane} more={goTos} />
    </Dialog>
  );
}
