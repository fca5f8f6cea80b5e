// What every policy can rely on. A schema of the user's own is put before it and adds to it.

export const BASE_SCHEMA = `
// Any set of principals, servers or tools that the entities file names.
entity Group in [Group];
entity Agent in [Group];
entity User in [Group];
entity Workload in [Group];
entity Server in [Group] { name: String };
// Its id is server::tool.
entity Tool in [Server, Group] { server: Server, name: String };
// A number that is neither whole nor exact in four decimals; equal to itself only.
entity Number;
// Every argument as text, by its path: context.flat.getTag("message.to[0]").
entity Flat tags String;

action "tools/call" appliesTo {
  principal: [Agent, User, Workload],
  resource: [Tool],
  context: {
    args: Arguments,
    flat: Flat,
    nulls: Set<String>,
    agent: Agent,
    user?: User,
    workload?: Workload,
    env: String,
    client: String,
    run: String,
    risk: Set<String>,
    now: datetime,
  },
};
`;

/** What stands for \`type Arguments\` when nobody has declared any. */
export const NO_ARGUMENTS = '\ntype Arguments = {};\n';
