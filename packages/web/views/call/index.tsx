import type { PanelProps } from '../../address/panel-address.ts';
import { Value } from '../../parts/texts.tsx';

export function CallPanel({ ids }: PanelProps) {
  return <Value text={ids.join('/')} />;
}
