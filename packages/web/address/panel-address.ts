import { goTo } from './address.ts';

/** The parameter of the address that opens a panel. */
export function panelAddress(kind: string, ...ids: readonly string[]): { readonly panel: string } {
  return { panel: [kind, ...ids].map(encodeURIComponent).join('/') };
}

export function openPanel(kind: string, ...ids: readonly string[]): void {
  goTo({ params: panelAddress(kind, ...ids) });
}
