import { useAddress } from '../../address/address.ts';
import { ServerDetail } from './server-detail.tsx';
import { ServerList } from './server-list.tsx';

export function ServersView() {
  const [, name] = useAddress().path;
  return name === undefined ? <ServerList /> : <ServerDetail key={name} name={name} />;
}
