import { Invites } from './invites.tsx';
import { Users } from './users.tsx';

export function People() {
  return (
    <div className="flex max-w-[1100px] flex-col gap-6">
      <Users />
      <Invites />
    </div>
  );
}
