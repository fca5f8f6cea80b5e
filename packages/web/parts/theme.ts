// Light or dark: what the system says, until somebody chooses.
import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';

const NAME = 'sub.theme';
const system = globalThis.matchMedia('(prefers-color-scheme: dark)');
const watchers = new Set<() => void>();
let state = readState();

function readState(): { readonly choice: ThemeChoice; readonly shown: 'light' | 'dark' } {
  const kept = globalThis.localStorage.getItem(NAME);
  const choice = kept === 'light' || kept === 'dark' ? kept : 'system';
  return { choice, shown: choice === 'system' ? (system.matches ? 'dark' : 'light') : choice };
}

function apply(): void {
  state = readState();
  document.documentElement.dataset['theme'] = state.shown;
  for (const watcher of watchers) watcher();
}

system.addEventListener('change', apply);
apply();

export function chooseTheme(choice: ThemeChoice): void {
  globalThis.localStorage.setItem(NAME, choice);
  apply();
}

export function useTheme() {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => state,
  );
}
