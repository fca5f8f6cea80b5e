import { useMutation } from '@tanstack/react-query';
import { logOut, useSession } from '../../api/session.ts';
import { Button, CommandLine } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { KeyList } from '../../parts/key-list.tsx';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { chooseTheme, type ThemeChoice, useTheme } from '../../parts/theme.ts';

const THEMES: { readonly [choice in ThemeChoice]: string } = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
};
const CHOICES = ['system', 'light', 'dark'] as const;

const ROLES = {
  viewer: 'may look',
  owner: 'may look and change everything',
  developer: 'sees their own turns',
  team_admin: 'sees and decides for their team',
  platform_admin: 'sees and changes everything',
} as const;

export function PageSettings() {
  const { plane, version } = useSession();
  return (
    <div className="grid max-w-[1100px] gap-6 p-3 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-6">
        <Theme />
        <SessionFacts />
        <section>
          <h2 className="text-14">Version</h2>
          <FactList>
            <Fact label="Subluminal">
              <Value text={version} />
            </Fact>
            <Fact label="Server">{plane === 'ledger' ? 'ledger daemon' : 'gateway'}</Fact>
          </FactList>
          <CommandLine command="sub --version" />
        </section>
      </div>
      <section className="min-w-0">
        <h2 className="pb-1 text-14">Keys</h2>
        <KeyList plane={plane} />
        <p className="text-dim">A key of every view, too: g and its letter. Press ? to see them.</p>
      </section>
    </div>
  );
}

function Theme() {
  const { choice } = useTheme();
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <legend className="pb-1 text-14">Theme</legend>
      {CHOICES.map((one) => (
        <label key={one} className="inline-flex items-center gap-1 max-md:h-11">
          <input
            type="radio"
            name="theme"
            checked={choice === one}
            onChange={() => chooseTheme(one)}
          />
          {THEMES[one]}
        </label>
      ))}
    </fieldset>
  );
}

function SessionFacts() {
  const { user, role, expires_at_ms } = useSession();
  const leave = useMutation({ mutationFn: logOut });
  return (
    <section aria-label="Session" className="flex flex-col gap-2">
      <h2 className="text-14">Session</h2>
      <FactList>
        <Fact label="Logged in as">
          <Value text={user} />
        </Fact>
        <Fact label="Role">
          <span className="font-mono">{role}</span> <span className="text-dim">{ROLES[role]}</span>
        </Fact>
        <Fact label="Ends">
          {expires_at_ms === null ? 'when the server says so' : <Ago atMs={expires_at_ms} />}
        </Fact>
      </FactList>
      {leave.error !== null && <FailureText cause={leave.error} />}
      <div>
        <Button disabled={leave.isPending} onClick={() => leave.mutate()}>
          Log out
        </Button>
      </div>
    </section>
  );
}
