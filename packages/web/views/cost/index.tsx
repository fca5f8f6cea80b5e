import { useSession } from '../../api/session.ts';
import { GatewayCost } from './gateway-cost.tsx';
import { LedgerCost } from './ledger-cost.tsx';

export function CostView() {
  return useSession().plane === 'ledger' ? <LedgerCost /> : <GatewayCost />;
}
