import type { SettingsChange } from '@subluminal/core/sandbox';
import { describe, expect, it } from 'vitest';
import { type ChangedSettings, changeSettings, undoSettings } from './change-settings.ts';
import type { Format } from './tree.ts';

const JSON_CHANGES: readonly SettingsChange[] = [
  { path: ['sandbox', 'enabled'], set: true },
  { path: ['sandbox', 'network', 'deniedDomains'], add: ['evil.example'] },
  { path: ['permissions', 'deny'], add: ['Read(//**/.env)', 'Edit(//**/.env)'] },
];
const TOML_CHANGES: readonly SettingsChange[] = [
  { path: ['sandbox_mode'], drop: true },
  { path: ['default_permissions'], set: 'subluminal' },
  {
    path: ['permissions', 'subluminal'],
    set: { extends: ':workspace', filesystem: { ':workspace_roots': { '**/.env': 'deny' } } },
  },
];

function changed(
  text: string,
  format: Format,
  changes: readonly SettingsChange[],
): ChangedSettings {
  const result = changeSettings({ text, format }, changes);
  if (result.kind === 'refused') throw new Error(result.why);
  return result;
}

const JSON_TEXTS: readonly string[] = [
  '{}',
  '{}\n',
  '',
  '{ "enableAllProjectMcpServers": true }\n',
  '{\n  // mine\n  "model": "x", // why\n  "permissions": {\n    "deny": ["Bash(rm *)"]\n  }\n}\n',
  '{\r\n\t"permissions": { "deny": [] },\r\n\t"sandbox": {\r\n\t\t"enabled": false\r\n\t}\r\n}',
  '{"sandbox":{},"permissions":{"allow":["Read"],"deny":["Read(//**/.env)"]}}',
  '{\n    "sandbox": {\n        "network": {}\n    }\n}\n',
];

describe('settings in JSON', () => {
  it.each(JSON_TEXTS.map((text) => [text]))('hold the changes: %j', (text) => {
    const { text: after } = changed(text, 'jsonc', JSON_CHANGES);
    const { kind } = changeSettings({ text: after, format: 'jsonc' }, JSON_CHANGES);
    expect(kind).toBe('changed');
    expect(changed(after, 'jsonc', JSON_CHANGES).text).toBe(after);
  });

  it('keep comments, and have what is new behind what was there', () => {
    const text =
      '{\n  // mine\n  "model": "x", // why\n  "permissions": {\n    "deny": ["a"]\n  }\n}\n';
    expect(changed(text, 'jsonc', JSON_CHANGES).text).toMatchInlineSnapshot(`
      "{
        // mine
        "model": "x", // why
        "permissions": {
          "deny": ["a","Read(//**/.env)","Edit(//**/.env)"]
        },
        "sandbox": {
          "enabled": true,
          "network": {
            "deniedDomains": [
              "evil.example"
            ]
          }
        }
      }
      "
    `);
  });

  it.each(JSON_TEXTS.map((text) => [text]))(
    'are what they were with a change of others on top: %j',
    (text) => {
      const { text: after, record } = changed(text, 'jsonc', JSON_CHANGES);
      const base = text;
      const hooks: readonly SettingsChange[] = [{ path: ['hooks', 'Stop'], add: ['x'] }];
      const other = changed(after, 'jsonc', hooks);
      const undone = undoSettings({ text: other.text, format: 'jsonc', record, base });
      if (undone.kind === 'refused') throw new Error(undone.why);
      const back = undoSettings({
        text: undone.text,
        format: 'jsonc',
        record: other.record,
        base: text,
      });
      expect(back).toMatchObject({ text });
    },
  );

  it('keep what others have made of ours', () => {
    const text = '{\n  "model": "x"\n}\n';
    const { text: after, record } = changed(text, 'jsonc', JSON_CHANGES);
    const edited = after
      .replace('"enabled": true', '"enabled": false')
      .replace('"Read(//**/.env)"', '"Read(//x)"');
    const undone = undoSettings({ text: edited, format: 'jsonc', record, base: text });
    if (undone.kind === 'refused') throw new Error(undone.why);
    expect(JSON.parse(undone.text)).toEqual({
      model: 'x',
      sandbox: { enabled: false },
      permissions: { deny: ['Read(//x)'] },
    });
    expect(undone.left).toEqual([['sandbox', 'enabled']]);
  });

  it.each([
    ['{"sandbox": true}', '`sandbox` is no object.'],
    ['{"permissions": {"deny": "x"}}', '`permissions.deny` is no list.'],
    ['{"permissions": ', 'it is broken at line 1, column 17: '],
    ['[]', 'it is no object.'],
  ])('are refused where they do not fit: %s', (text, why) => {
    const result = changeSettings({ text, format: 'jsonc' }, JSON_CHANGES);
    expect(result.kind === 'refused' ? result.why : '').toContain(why);
  });
});

const TOML_TEXTS: readonly string[] = [
  '',
  '# mine\nmodel = "x"\n\n[mcp_servers.files] # files\ncommand = "node"\n',
  'model = "x"\r\nsandbox_mode = "read-only" # safe\r\n[a]\r\nb = 1',
  '[permissions.mine]\nextends = ":workspace"\n',
];

describe('settings in TOML', () => {
  it('stand around what is there', () => {
    const text = '# mine\nsandbox_mode = "read-only"\nmodel = "x"\n\n[a]\nb = 1';
    expect(changed(text, 'toml', TOML_CHANGES).text).toMatchInlineSnapshot(`
      "default_permissions = "subluminal"
      # mine
      model = "x"

      [a]
      b = 1

      [permissions.subluminal]
      extends = ":workspace"

      [permissions.subluminal.filesystem.":workspace_roots"]
      "**/.env" = "deny"
      "
    `);
  });

  it.each(TOML_TEXTS.map((text) => [text]))(
    'are what they were, with a change of others as well: %j',
    (text) => {
      const { text: after, record } = changed(text, 'toml', TOML_CHANGES);
      const undone = undoSettings({ text: after, format: 'toml', record, base: text });
      expect(undone).toEqual({ kind: 'undone', text, left: [] });
      const other = `${after}\n[projects."/x"]\ntrust_level = "trusted"\n`;
      const kept = undoSettings({ text: other, format: 'toml', record, base: text });
      if (kept.kind === 'refused') throw new Error(kept.why);
      expect(kept.text).toContain('[projects."/x"]');
      expect(kept.text).not.toContain('subluminal');
    },
  );

  it('are refused where a profile of that name is somebody else’s', () => {
    const text = '[permissions.subluminal]\nextends = ":workspace"\n';
    expect(changeSettings({ text, format: 'toml' }, TOML_CHANGES)).toEqual({
      kind: 'refused',
      why: '`permissions.subluminal` is there already.',
    });
  });
});
