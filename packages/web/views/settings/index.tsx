// Settings: the page and the session; at a gateway also keys, people and webhooks, as far as the role may see them.
import { useAddress } from '../../address/address.ts';
import { useMay, useSession } from '../../api/session.ts';
import { ViewHead } from '../../parts/view-head.tsx';
import { ApiKeys } from './api-keys.tsx';
import { PageSettings } from './page-settings.tsx';
import { People } from './people.tsx';
import { Webhooks } from './webhooks.tsx';

const ALONE = [{ id: 'page', title: 'Page', content: PageSettings }] as const;
const DEVELOPER = [...ALONE, { id: 'keys', title: 'API keys', content: ApiKeys }] as const;
const ADMIN = [
  ...DEVELOPER,
  { id: 'people', title: 'People', content: People },
  { id: 'webhooks', title: 'Webhooks', content: Webhooks },
] as const;

export function SettingsView() {
  const { plane } = useSession();
  const { params } = useAddress();
  const isAdmin = useMay('platform_admin');
  const parts = plane === 'ledger' ? ALONE : isAdmin ? ADMIN : DEVELOPER;
  const part = parts.find(({ id }) => id === params['tab']) ?? ALONE[0];
  const Content = part.content;
  const tabs = parts.map(({ id, title }) => ({
    title,
    to: { path: ['settings'], params: id === 'page' ? {} : { tab: id } },
    isHere: id === part.id,
  }));
  return (
    <>
      <ViewHead title="Settings" {...(parts.length > 1 && { tabs })} />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Content />
      </div>
    </>
  );
}
