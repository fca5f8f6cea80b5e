import { decodePart, goTo, useAddress } from './address.ts';

export interface PanelProps {
  /** What stands behind the kind in the address: `panel=call/RUN/CALL`. */
  readonly ids: readonly string[];
}

/** The parameter of the address that opens a panel. */
export function panelAddress(kind: string, ...ids: readonly string[]): { readonly panel: string } {
  return { panel: [kind, ...ids].map(encodeURIComponent).join('/') };
}

/** The parts of the parameter: the kind, then the ids. */
export function panelParts(panel = ''): readonly string[] {
  return panel.split('/').map(decodePart);
}

/** The call that is open at the right. */
export function useOpenCall(): { readonly runId: string; readonly callId: string } | undefined {
  const [kind, runId = '', callId = ''] = panelParts(useAddress().params['panel']);
  return kind === 'call' ? { runId, callId } : undefined;
}

export function openPanel(kind: string, ...ids: readonly string[]): void {
  goTo({ params: panelAddress(kind, ...ids) });
}
