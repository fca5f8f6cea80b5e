// `node --import kill-at-commit.mjs`: kills the process just before or just after its n-th commit to Steward's journal,
// as KILL_AT says (`before 7`). It puts a class of its own over that of the SQLite library; the product has no such hook.
import Module from 'node:module';

const [when, place] = (process.env.KILL_AT ?? '').split(' ');
let commits = 0;

const killing = ({ DatabaseSync, ...library }) => ({
  ...library,
  DatabaseSync: class extends DatabaseSync {
    #isJournal;

    constructor(location, ...options) {
      super(location, ...options);
      this.#isJournal = String(location).endsWith('journal.db');
    }

    exec(sql) {
      const isPlace = this.#isJournal && sql === 'COMMIT' && ++commits === Number(place);
      if (isPlace && when === 'before') process.kill(process.pid, 'SIGKILL');
      super.exec(sql);
      if (isPlace && when === 'after') process.kill(process.pid, 'SIGKILL');
    }
  },
});

/** From Node itself where it has it, and from the package where not. */
const { getBuiltinModule } = process;
process.getBuiltinModule = (id) => {
  const loaded = getBuiltinModule(id);
  return id === 'node:sqlite' && loaded !== undefined ? killing(loaded) : loaded;
};

const { require } = Module.prototype;
Module.prototype.require = function requireKilling(id) {
  const loaded = Reflect.apply(require, this, [id]);
  return id === '@photostructure/sqlite' ? killing(loaded) : loaded;
};
