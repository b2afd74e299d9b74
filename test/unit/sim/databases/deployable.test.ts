import { expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { importSim } from '../../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../../support/sim/files.ts'
import { lossesOf } from '../../../support/sim/losses.ts'

const server = { host: 'db.example.com', port: '5432', database: 'shop', username: 'ada', password: '{{DB_PASSWORD}}' }
const account = { accessKeyId: '{{AWS_KEY}}', secretAccessKey: '{{AWS_SECRET}}', region: 'eu-central-1' }
const bucket = { ...account, bucketName: 'reports', objectKey: '<start.topic>' }

test.each([
  ['postgresql', { ...server, operation: 'query', query: "SELECT 1 WHERE a = '<start.topic>' LIMIT <start.count>" }],
  ['mysql', { ...server, operation: 'execute', query: 'DELETE FROM a WHERE b = <start.topic>; DELETE FROM c' }],
  ['postgresql', { ...server, operation: 'insert', table: 'orders', data: '{"name": "<start.topic>", "total": 5}' }],
  ['mysql', { ...server, operation: 'update', table: 'orders', data: '{"total": 5}', where: 'id = <start.count>' }],
  ['redis', { url: '{{REDIS_URL}}', operation: 'set', key: 'a:<start.topic>', value: '<start.count>', ex: '60' }],
  ['redis', { url: '{{REDIS_URL}}', operation: 'command', command: '["ZADD", "z", 1, "<start.topic>"]' }],
  ['s3', { ...account, operation: 'get_object', s3Uri: 'https://reports.s3.eu-central-1.amazonaws.com/<start.topic>' }],
  ['s3', { ...bucket, operation: 'put_object', content: 'Hello', contentType: 'text/markdown' }],
  ['s3', { ...account, operation: 'list_objects', bucketName: 'reports', prefix: 'a/', maxKeys: '<start.count>' }],
  ['s3', { ...bucket, operation: 'delete_object' }],
  ['s3', { ...bucket, operation: 'presigned_url', method: 'get', expiresIn: '60' }],
  ['file', { inputMethod: 'url', filePath: '<start.topic>' }],
  ['file_v5', { operation: 'file_fetch', fileUrl: 'https://example.com/<start.topic>.csv' }],
  ['file_v5', { operation: 'file_compress', compressFileId: '<start.topic>', archiveName: 'all.zip' }],
  ['file_v5', { operation: 'file_decompress', decompressFileId: '<start.topic>' }],
])('a complete block of the type %s can be deployed after the import, and loses nothing: %j', (type, values) => {
  const inputFormat = [
    { name: 'topic', type: 'string' },
    { name: 'count', type: 'number' },
  ]
  const file = simFile(
    [
      simBlock('start', 'start_trigger', { inputFormat }, { name: 'Start' }),
      simBlock('it', type, values, { name: 'It' }),
    ],
    ['start > it'],
  )
  const result = importSim(file)
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  expect(result.placeholders).toEqual([])
  const { findings } = compilePlan(result.document, registry, defaultLimits)
  expect(findings.filter(({ level }) => level === 'error')).toEqual([])
  expect(lossesOf(file, result.document, result.notes)).toEqual([])
})
