// Manifests that change, come, go and break while a session runs, or before it.
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { approvingAt } from './approving.ts';
import { hangUp, QUICK, startRig } from './driver.ts';
import { noticesOf } from './gated.ts';
import { begin, expectReaches, expectRefused, placeOf, REACHED, tool } from './turning.ts';

beforeAll(ensureBuilt);

const read = tool('read', 'Reads a file.');
const list = tool('list', 'Lists files.');
const MANIFEST = (allowed: string) => `server: puppet\nallowed_tools:\n  - { name: ${allowed} }\n`;
const FILE = 'manifests/puppet.yaml';

describe('a manifest', () => {
  it('that changes holds from the next list and call on; a broken one changes nothing', async () => {
    verifies('ST-8.5', 'ST-8.9', 'ST-8.10.1');
    const place = placeOf();
    place.home.write(FILE, MANIFEST('read'));
    place.show([read, list]);
    const session = await begin(place);
    expect(await session.tools()).toEqual(['read']);
    await expectRefused(session, 'list', 'TOOL_NOT_LISTED');

    place.home.write(FILE, MANIFEST('list'));
    await session.rig.told(/another manifest/);
    expect(await session.tools()).toEqual(['list']);
    await expectReaches(session, 'list');
    await expectRefused(session, 'read', 'TOOL_NOT_LISTED');

    place.home.write(FILE, 'server: puppet\nallowed_tools: 7\n');
    await session.rig.told(/puppet\.yaml is broken; the last good manifest stays/);
    expect(await session.tools()).toEqual(['list']);
    await expectRefused(session, 'read', 'TOOL_NOT_LISTED');

    rmSync(join(place.home.path, FILE));
    await session.rig.told(/manifest is gone/);
    expect(await session.tools()).toEqual(['list']);
    await hangUp(session.rig);
    const health = session.rig.events().filter(({ type }) => type === 'shim_health');
    expect(JSON.stringify(health)).toContain('the manifest is broken');
    expect(JSON.stringify(health)).toContain('the manifest is gone');
    expect(noticesOf(session.rig)).toContainEqual(
      expect.objectContaining({ what: 'tool_hidden', enforced: true, name: 'list' }),
    );
  });

  it('that comes while the server runs holds as well', async () => {
    const place = placeOf();
    place.show([read, list]);
    const session = await begin(place);
    expect(await session.tools()).toEqual(['read', 'list']);
    place.home.write(FILE, MANIFEST('read'));
    await session.rig.told(/another manifest/);
    await expectRefused(session, 'list', 'TOOL_NOT_LISTED');
  });

  it('asks a person, also where there is no policy', async () => {
    verifies('ST-8.10.2');
    const place = placeOf();
    place.show([read]);
    const people = approvingAt(place.home.folder);
    place.home.write(FILE, MANIFEST('read, requires_approval: true'));
    const session = await begin(place);
    const asked = session.call('read');
    const { request } = await people.pending();
    expect(await people.sub('approvals', 'approve', request.id)).toMatchObject({ code: 0 });
    expect(await asked).toMatchObject({ error: { code: REACHED } });
  });

  it('that is broken at the start keeps a production shim from starting, with file and line', async () => {
    const place = placeOf();
    place.show([read]);
    const path = place.home.write(FILE, 'server: puppet\nallowed_tools:\n  - { nam: read }\n');
    const { command, home } = place;
    const rig = await startRig({ command, env: { ...QUICK, ...home.env } });
    expect(await rig.exit).toEqual({ code: 2, signal: null });
    expect(rig.stderr()).toContain(`${path}:3:`);

    const session = await begin(place, { profile: 'development' });
    expect(await session.tools()).toEqual(['read']);
    await hangUp(session.rig);
    expect(session.rig.stderr()).toContain(`${path}:3:`);
  });

  it('that others can write is no manifest in production', async () => {
    const place = placeOf();
    place.show([read]);
    chmodSync(place.home.write(FILE, MANIFEST('read')), 0o666);
    const { command, home } = place;
    const rig = await startRig({ command, env: { ...QUICK, ...home.env } });
    expect(await rig.exit).toMatchObject({ code: 2 });
    expect(rig.stderr()).toContain('chmod');
  });

  it('in the profile development tells, and hides nothing', async () => {
    const place = placeOf();
    place.home.write(FILE, MANIFEST('read'));
    place.show([read, list]);
    const session = await begin(place, { profile: 'development' });
    expect(await session.tools()).toEqual(['read', 'list']);
    await expectReaches(session, 'list');
    await hangUp(session.rig);
    expect(noticesOf(session.rig)).toMatchObject([
      { what: 'tool_hidden', enforced: false, name: 'list', reason_code: 'TOOL_NOT_LISTED' },
    ]);
  });
});
