// The limits of a manifest in a run: who starts the server again gets no new ones.
import { beforeAll, describe, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { hangUp } from './driver.ts';
import { realHub } from './hubs.ts';
import { begin, expectReaches, expectRefused, placeOf, tool } from './turning.ts';

beforeAll(ensureBuilt);

const MANIFEST = `server: puppet
allowed_tools:
  - { name: search, rate_limit: 2/hour }
  - { name: read }
`;

function place() {
  const here = placeOf();
  here.home.write('manifests/puppet.yaml', MANIFEST);
  here.show([tool('search', 'Searches.'), tool('read', 'Reads.')]);
  return here;
}

describe('a rate limit of a manifest', () => {
  it('survives a restart of the server, and a kill of its shim', async () => {
    const { env } = await realHub();
    const here = place();
    const first = await begin(here, { env });
    await expectReaches(first, 'search');
    await hangUp(first.rig);
    const second = await begin(here, { env });
    await expectReaches(second, 'search');
    second.rig.shim.kill('SIGKILL');
    await second.rig.exit;
    const third = await begin(here, { env });
    await expectRefused(third, 'search', 'RATE_LIMITED');
    await expectReaches(third, 'read');
    await hangUp(third.rig);
  });

  it('is one for two sessions at the same time', async () => {
    const { env } = await realHub();
    const here = place();
    const [one, other] = [await begin(here, { env }), await begin(here, { env })];
    await expectReaches(one, 'search');
    await expectReaches(other, 'search');
    await expectRefused(one, 'search', 'RATE_LIMITED');
    await expectRefused(other, 'search', 'RATE_LIMITED');
    await hangUp(one.rig);
    await hangUp(other.rig);
  });
});
