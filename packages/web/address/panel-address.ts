import { goTo } from './address.ts';

export interface PanelProps {
  /** What stands behind the kind in the address: `panel=call/RUN/CALL`. */
  readonly ids: readonly string[];
}

/** The parameter of the address that opens a panel. */
export function panelAddress(kind: string, ...ids: readonly string[]): { readonly panel: string } {
  return { panel: [kind, ...ids].map(encodeURIComponent).join('/') };
}

export function openPanel(kind: string, ...ids: readonly string[]): void {
  goTo({ params: panelAddress(kind, ...ids) });
}
