// Runs the order in argv by the task's own Vitest and writes each test's outcome to a pipe; the token comes on stdin.
//
// This process never imports the candidate: one child of it does, and tells it of each test. No configuration is read,
// of the workspace's or anybody's. A hidden test finds what it imports in the hidden folder first, and then where the
// same path would lead in the workspace.
import { existsSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const order = JSON.parse(process.argv[2])
const token = readFileSync(0, 'utf8').trim()
const mustFail = join(dirname(fileURLToPath(import.meta.url)), 'farm_must_fail.test.mjs')
const vitest = join(order.runner, 'vitest')
const ENDINGS = ['', '.ts', '.tsx', '.mts', '.js', '.jsx', '.mjs', '.cjs', '.json', '/index.ts', '/index.js']

const record = (fields) => writeSync(order.descriptor, `${JSON.stringify({ token, ...fields })}\n`)
const named = (path) => relative(order.hidden, path)

function tell(test) {
  const place = { file: named(test.module.moduleId), name: test.fullName }
  const state = test.result().state
  if (state === 'skipped') return record({ ...place, when: 'setup', outcome: state })
  record({ ...place, when: 'setup', outcome: 'passed' })
  record({ ...place, when: 'call', outcome: state })
  record({ ...place, when: 'teardown', outcome: 'passed' })
}

const reporter = {
  onInit: () => record({ ready: true }),
  onTestCaseResult: tell,
  onTestModuleEnd: (module) => module.errors().length && record({ broken: named(module.moduleId) }),
  onTestSuiteResult: (suite) => suite.errors().length && record({ broken: named(suite.module.moduleId) }),
  onTestRunEnd: (_, errors, reason) => record({ end: errors.length === 0 && reason === 'failed' ? 1 : 2 }),
}

const twin = {
  name: 'farm-twin',
  enforce: 'pre',
  resolveId(source, importer) {
    const from = importer?.split('?')[0]
    if (!from?.startsWith(`${order.hidden}/`) || source === 'vitest' || source.startsWith('vitest/')) return null
    if (!source.startsWith('.')) return this.resolve(source, join(order.workspace, 'package.json'), { skipSelf: true })
    const own = resolve(dirname(from), source)
    if (ENDINGS.some((ending) => existsSync(own + ending))) return null
    return this.resolve(join(order.workspace, named(own)), undefined, { skipSelf: true })
  },
}

class CanaryLast {
  shard(specifications) {
    return specifications
  }

  sort(specifications) {
    const place = (one) => order.files.indexOf(named(one.moduleId))
    const last = (one) => (one.moduleId === mustFail ? order.files.length : place(one))
    return [...specifications].sort((one, other) => last(one) - last(other))
  }
}

const { version } = JSON.parse(readFileSync(join(vitest, 'package.json'), 'utf8'))
if (parseInt(version, 10) < 4) throw new Error(`Vitest ${version} runs test files in processes of their own; 4 is needed`)

const files = [...order.files.map((file) => join(order.hidden, file)), mustFail]
const { startVitest } = await import(pathToFileURL(join(vitest, 'dist/node.js')).href)
const run = await startVitest(
  'test',
  files,
  {
    config: false,
    root: order.hidden,
    dir: '/',
    include: files,
    exclude: [],
    watch: false,
    reporters: [reporter],
    pool: 'forks', // one process for all files, so that what the candidate changes there shows in the canary as well
    isolate: false,
    fileParallelism: false,
    maxWorkers: 1,
    sequence: { sequencer: CanaryLast, shuffle: false, concurrent: false },
    environment: 'node',
    globals: false,
    setupFiles: [],
    globalSetup: [],
    allowOnly: false,
    cache: false,
    api: false,
    update: false,
  },
  {
    configFile: false,
    envFile: false,
    cacheDir: '/tmp/farm-vite',
    publicDir: false,
    css: { postcss: { plugins: [] } },
    plugins: [twin],
    resolve: { alias: [{ find: /^vitest(?=\/|$)/, replacement: vitest }] },
    server: { fs: { strict: false }, watch: null, ws: false },
    optimizeDeps: { noDiscovery: true, include: [] },
  },
)
await run?.close()
