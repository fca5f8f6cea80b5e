// The address of the page is its state: the view, what it shows, the filter, the time and the open panel.
import { useSyncExternalStore } from 'react';

export interface Address {
  /** The parts of the path, decoded: `['runs', RUN]`. */
  readonly path: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

export interface AddressChange {
  readonly path?: readonly string[];
  /** Merged into the present ones; an empty value takes one out. With a new path, only these stay. */
  readonly params?: Readonly<Record<string, string>>;
}

const listeners = new Set<() => void>();
let current = readAddress();

function readAddress(): Address {
  const { pathname, search } = globalThis.location;
  return {
    path: pathname.split('/').filter(Boolean).map(decodePart),
    params: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** The address may come from anywhere: what is not well-formed stands for itself. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function announce(): void {
  current = readAddress();
  for (const listener of listeners) listener();
}

globalThis.addEventListener('popstate', announce);

function addressOf({ path, params }: Address): string {
  const query = new URLSearchParams(params).toString();
  const place = `/${path.map(encodeURIComponent).join('/')}`;
  return query === '' ? place : `${place}?${query}`;
}

/** Where a change leads from here; for links. */
export function changedAddress(change: AddressChange): string {
  const kept = change.path === undefined ? current.params : {};
  const merged = Object.entries({ ...kept, ...change.params }).filter(([, value]) => value !== '');
  return addressOf({ path: change.path ?? current.path, params: Object.fromEntries(merged) });
}

/** `replace` leaves no step to go back to: for what changes while typing or dragging. */
export function goTo(change: AddressChange, how: 'push' | 'replace' = 'push'): void {
  const next = changedAddress(change);
  const { pathname, search } = globalThis.location;
  if (next === pathname + search) return;
  if (how === 'push') globalThis.history.pushState(null, '', next);
  else globalThis.history.replaceState(null, '', next);
  announce();
}

export function useAddress(): Address {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
