/** The Debian packages of the programs that tests start. `.ci/run` installs them. */
const packages = {
  chromium: 'chromium',
  curl: 'curl',
  dd: 'coreutils',
  dovecot: 'dovecot-imapd',
  faketime: 'faketime',
  'mariadb-install-db': 'mariadb-server',
  mariadbd: 'mariadb-server',
  mount: 'mount',
  nginx: 'nginx',
  pgbouncer: 'pgbouncer',
  pkill: 'procps',
  python3: 'python3',
  'redis-server': 'redis-server',
  setpriv: 'util-linux',
  strace: 'strace',
  tar: 'tar',
  unzip: 'unzip',
  zip: 'zip',
} as const

/** The path of a program. A test that needs a missing program fails with the package to install. */
export function programPath(name: keyof typeof packages): string {
  const path = Bun.which(name)
  if (path === null) throw new Error(`This test needs ${name}: install the package "${packages[name]}".`)
  return path
}

/** The path of strace. Fails when strace is missing, or when this user may trace no process. */
export function tracerPath(): string {
  const path = programPath('strace')
  const { exitCode, stderr } = Bun.spawnSync([path, '-qq', '-e', 'trace=none', 'true'])
  if (exitCode !== 0) throw new Error(`This test needs to trace processes, which is not permitted here: ${stderr}`)
  return path
}
