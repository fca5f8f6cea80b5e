import type { PanelProps } from '../../app/panels.ts';
import { Value } from '../../parts/texts.tsx';

export function CallPanel({ ids }: PanelProps) {
  return <Value text={ids.join('/')} />;
}
