// The runs: all of them, one, or two side by side.
import { useAddress } from '../../address/address.ts';
import { CompareView } from '../compare/index.tsx';
import { RunView } from '../run/index.tsx';
import { Scoreboard } from './scoreboard.tsx';

export function RunsView() {
  const { path } = useAddress();
  const [, first, one, other] = path;
  if (first === undefined) return <Scoreboard />;
  if (first === 'compare' && one !== undefined && other !== undefined) {
    return <CompareView key={`${one} ${other}`} runIds={[one, other]} />;
  }
  return <RunView key={first} runId={first} />;
}
