// The panel at the right. It has its own address, and Escape closes it.
import { Suspense, useEffect, useRef } from 'react';
import { goTo, useAddress } from '../address/address.ts';
import { panelParts } from '../address/panel-address.ts';
import { IconButton } from '../parts/buttons.tsx';
import { CloseIcon } from '../parts/icons.tsx';
import { useShortcut } from '../parts/shortcuts.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { PANELS } from './panels.ts';

export function Panel() {
  const { params } = useAddress();
  const [kind = '', ...ids] = panelParts(params['panel']);
  const Content = Object.hasOwn(PANELS, kind) ? PANELS[kind] : undefined;
  return Content === undefined ? null : (
    <OpenPanel name={params['panel'] ?? ''}>
      <Content ids={ids} />
    </OpenPanel>
  );
}

function OpenPanel({
  name,
  children,
}: {
  readonly name: string;
  readonly children: React.ReactNode;
}) {
  const close = () => goTo({ params: { panel: '' } });
  useShortcut('Escape', close);
  const opener = useRef(document.activeElement);
  // Whoever closes it is back where they were.
  useEffect(() => {
    const before = opener.current;
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <aside
      aria-label="Detail"
      className="flex w-[480px] shrink-0 flex-col overflow-hidden border-l border-line bg-page max-xl:absolute max-xl:inset-y-0 max-xl:right-0 max-xl:z-20 max-xl:max-w-full max-xl:shadow-panel max-sm:w-full"
    >
      <div className="absolute top-1 right-1 z-10">
        <IconButton label="Close (Esc)" onClick={close}>
          <CloseIcon />
        </IconButton>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto p-3 [&_h2]:pr-8">
        <ErrorBoundary key={name}>
          <Suspense fallback={null}>{children}</Suspense>
        </ErrorBoundary>
      </div>
    </aside>
  );
}
