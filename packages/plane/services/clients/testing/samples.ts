// Configs as the clients have them: with what they write themselves, and with what people add.
import type { ClientId, ConfigScope, Format } from '../types.ts';

export interface Sample {
  readonly client: ClientId;
  readonly scope: ConfigScope;
  readonly path: string;
  readonly format: Format;
  readonly text: string;
  /** What is to be found: name, transport, and the whole command. */
  readonly found: readonly (readonly [string, string, readonly string[]])[];
}

const NPX: readonly string[] = ['npx', '-y', '@modelcontextprotocol/server-filesystem', '/tmp'];

export const SAMPLES: readonly Sample[] = [
  {
    client: 'claude-code',
    scope: 'user',
    path: '/home/u/.claude.json',
    format: 'json',
    text: `{
  "numStartups": 12,
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/tmp"
      ],
      "env": {}
    },
    "linear": { "type": "http", "url": "https://mcp.example.com/mcp" }
  },
  "projects": {
    "/projects/app": {
      "allowedTools": [],
      "history": [{ "display": "hello" }],
      "mcpServers": {
        "db": { "type": "stdio", "command": "db-mcp", "env": { "URL": "\${DB_URL}" } },
        "old": { "command": "old-mcp", "args": [] }
      },
      "disabledMcpServers": ["old", "files"],
      "disabledMcpjsonServers": ["shared"]
    },
    "/projects/other": { "mcpServers": {} }
  },
  "userID": "0123"
}
`,
    found: [
      ['files', 'stdio', NPX],
      ['linear', 'remote', []],
      ['db', 'stdio', ['db-mcp']],
      ['old', 'stdio', ['old-mcp']],
    ],
  },
  {
    client: 'claude-code',
    scope: 'project',
    path: '/projects/app/.mcp.json',
    format: 'json',
    text: '{"mcpServers":{"files":{"command":"npx","args":["x"]},"shared":{"command":"${BIN:-uvx}"},"far":{"type":"streamable-http","url":"${URL}"}}}',
    found: [
      ['files', 'stdio', ['npx', 'x']],
      ['shared', 'stdio', ['${BIN:-uvx}']],
      ['far', 'remote', []],
    ],
  },
  {
    client: 'claude-desktop',
    scope: 'user',
    path: '/home/u/.config/Claude/claude_desktop_config.json',
    format: 'json',
    text: `{
    "mcpServers": {
        "files": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]
        }
    },
    "globalShortcut": ""
}`,
    found: [['files', 'stdio', NPX]],
  },
  {
    client: 'codex',
    scope: 'user',
    path: '/home/u/.codex/config.toml',
    format: 'toml',
    text: `model = "gpt-5" # the usual one
notify = ["notify-send", "Codex"]

[mcp_servers.files]
command = "npx"
args = [
  "-y", # no questions
  "@modelcontextprotocol/server-filesystem",
  '/tmp',
]
startup_timeout_sec = 20

[mcp_servers.files.env]
"LOG_LEVEL" = "hunter1"

[mcp_servers."with space"]
command = 'git-mcp'
enabled = false

[mcp_servers]
inline = { command = "uvx", args = ["mcp-server-git"] }
docs.url = "https://docs.example.com/mcp"
docs.bearer_token_env_var = "DOCS_TOKEN"

[projects."/projects/app"]
trust_level = "trusted"
`,
    found: [
      ['files', 'stdio', NPX],
      ['with space', 'stdio', ['git-mcp']],
      ['inline', 'stdio', ['uvx', 'mcp-server-git']],
      ['docs', 'remote', []],
    ],
  },
  {
    client: 'copilot-cli',
    scope: 'user',
    path: '/home/u/.copilot/mcp-config.json',
    format: 'jsonc',
    text: `{
  "mcpServers": {
    "files": {
      "tools": [
        "*"
      ],
      "type": "local",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
      "env": { "KEY": "$KEY", "OTHER": "hunter5" }
    },
    "far": { "tools": ["*"], "type": "http", "url": "https://mcp.example.com/mcp", "headers": { "X": "hunter6" } }
  }
}
`,
    found: [
      ['files', 'stdio', NPX],
      ['far', 'remote', []],
    ],
  },
  {
    client: 'gemini-cli',
    scope: 'user',
    path: '/home/u/.gemini/settings.json',
    format: 'jsonc',
    text: `{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "mcp": { "excluded": ["old"] },
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
      "env": { "API_KEY": "$MY_TOKEN", "LEVEL": "hunter7" },
      "trust": false
    },
    "old": { "command": "old-mcp", "timeout": 30000 },
    "far": { "httpUrl": "https://mcp.example.com/mcp" }
  },
  "hooks": { "BeforeTool": [{ "matcher": ".*", "hooks": [{ "type": "command", "command": "mine" }] }] }
}
`,
    found: [
      ['files', 'stdio', NPX],
      ['old', 'stdio', ['old-mcp']],
      ['far', 'remote', []],
    ],
  },
  {
    client: 'cursor',
    scope: 'project',
    path: '/projects/app/.cursor/mcp.json',
    format: 'jsonc',
    text: `{
\t"mcpServers": {
\t\t"files": {
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
\t\t\t"envFile": ".env" // not in git
\t\t},
\t\t"far": { "url": "https://mcp.example.com/sse", "headers": { "Authorization": "Bearer hunter4 \${env:KEY}" } },
\t},
}
`,
    found: [
      ['files', 'stdio', NPX],
      ['far', 'remote', []],
    ],
  },
  {
    client: 'vscode',
    scope: 'project',
    path: '/projects/app/.vscode/mcp.json',
    format: 'jsonc',
    text: `\uFEFF{\r
  // Asked for once.\r
  "inputs": [{ "type": "promptString", "id": "key", "description": "Key", "password": true }],\r
  "servers": {\r
    "files": {\r
      "type": "stdio",\r
      "command": "npx",\r
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],\r
      "env": { "API_KEY": "\${input:key}" },\r
    },\r
    /* reached by its address */\r
    "github": { "type": "http", "url": "https://api.example.com/mcp/" }\r
  }\r
}\r
`,
    found: [
      ['files', 'stdio', NPX],
      ['github', 'remote', []],
    ],
  },
  {
    client: 'vscode',
    scope: 'user',
    path: '/home/u/.config/Code/User/settings.json',
    format: 'jsonc',
    text: `{
  "editor.fontSize": 13,
  "editor.fontSize": 14, // twice, and VS Code does not mind
  "mcp": { "inputs": [], "servers": { "files": { "command": "files-mcp" } } },
}`,
    found: [['files', 'stdio', ['files-mcp']]],
  },
  {
    client: 'windsurf',
    scope: 'user',
    path: '/home/u/.codeium/windsurf/mcp_config.json',
    format: 'jsonc',
    text: `{
  "mcpServers": {
    "files": {
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
      "command": "npx",
      "disabled": true,
      "env": { "KEY": "\${env:KEY}" }
    },
    "far": { "serverUrl": "https://mcp.example.com/mcp", "disabledTools": ["x"] }
  }
}`,
    found: [
      ['files', 'stdio', NPX],
      ['far', 'remote', []],
    ],
  },
  {
    client: 'zed',
    scope: 'user',
    path: '/home/u/.config/zed/settings.json',
    format: 'jsonc',
    text: `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "files": {
      "source": "custom",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
      "env": {}
    },
    "older": {
      "command": { "path": "older-mcp", "args": ["run"], "env": { "A": "hunter2" } },
      "settings": {}
    },
    "bare": { "command": { "path": "bare-mcp" } },
    "extension": { "source": "extension", "enabled": true, "settings": { "token": "hunter3" } },
    "far": { "url": "https://mcp.example.com/mcp" }
  }
}
`,
    found: [
      ['files', 'stdio', NPX],
      ['older', 'stdio', ['older-mcp', 'run']],
      ['bare', 'stdio', ['bare-mcp']],
      ['extension', 'unknown', []],
      ['far', 'remote', []],
    ],
  },
  {
    client: 'custom',
    scope: 'user',
    path: '/projects/app/agent.json',
    format: 'jsonc',
    text: '{ "servers": { "a": { "command": "a" } }, "context_servers": { "b": { "command": { "path": "b" } } } }',
    found: [
      ['a', 'stdio', ['a']],
      ['b', 'stdio', ['b']],
    ],
  },
];
