import { describe, expect, test } from 'bun:test'
import { importSim } from '../../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../../support/sim/files.ts'

const account = { accessKeyId: 'AKIAEXAMPLE1234', secretAccessKey: 'open sesame', region: 'eu-central-1' }

function imported(values: Record<string, unknown>, code = '') {
  const blocks = [
    simBlock('start', 'start_trigger', {}, { name: 'Start' }),
    simBlock('b', 's3', { ...account, ...values }, { name: 'Files' }),
    simBlock('after', 'function', { code }, { name: 'After' }),
  ]
  const result = importSim(simFile(blocks, ['start > b', 'b > after']))
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  expect(JSON.stringify(result)).not.toContain('sesame')
  return { ...result, block: result.document.blocks['b']!, code: result.document.blocks['after']!.params?.['code'] }
}

describe('an S3 block of Sim', () => {
  test('that reads a file gets the bucket, the key and the region from the address', () => {
    const { block, code, credentials, notes } = imported(
      { s3Uri: 'https://my.reports.s3.us-east-2.amazonaws.com/a%20b/<start.id>.pdf' },
      'return [<files.file>, <files.metadata.size>]',
    )
    expect(block).toMatchObject({
      type: 's3',
      params: { operation: 'get', bucket: 'my.reports', key: 'a b/<start.input.id>.pdf' },
    })
    expect(code).toBe('return [<files.file>, <files.file.size>]')
    expect(credentials).toMatchObject([{ name: 's3-1234-us-east-2', kind: 'aws_sigv4' }])
    expect(notes.join('\n')).toContain('the region us-east-2 and the service s3')
  })

  test('that writes a file or a text becomes one that writes', () => {
    const put = { operation: 'put_object', bucketName: 'reports', objectKey: '<start.id>.txt' }
    const file = imported({ ...put, fileReference: '<start.file>', content: 'unused', acl: 'public-read' })
    expect(file.block.params).toMatchObject({ operation: 'put', body: '<start.input.file>' })
    expect(file.notes.join('\n')).toContain('acl')
    const text = imported({ ...put, content: 'Hello', contentType: 'text/markdown', acl: 'private' })
    expect(text.block.params).toEqual({
      credential: 's3-1234-eu-central-1',
      ...{
        operation: 'put',
        bucket: 'reports',
        key: '<start.input.id>.txt',
        body: 'Hello',
        contentType: 'text/markdown',
      },
    })
    expect(text.notes.join('\n')).not.toContain('no effect')
  })

  test('that lists, deletes or links files does the same here', () => {
    const list = imported(
      { operation: 'list_objects', bucketName: 'reports', prefix: 'a/', maxKeys: '50' },
      'return [<files.objects[0].key>, <files.metadata.isTruncated>]',
    )
    expect(list.block.params).toMatchObject({ operation: 'list', bucket: 'reports', prefix: 'a/', limit: 50 })
    expect(list.code).toBe('return [<files.items[0].key>, <files.hasMore>]')
    const remove = imported({ operation: 'delete_object', bucketName: 'reports', objectKey: 'a' })
    expect(remove.block.params).toMatchObject({ operation: 'delete', bucket: 'reports', key: 'a' })
    const link = imported(
      { operation: 'presigned_url', bucketName: 'reports', objectKey: 'a', method: 'get', expiresIn: '60' },
      'return <files.url>',
    )
    expect(link.block.params).toMatchObject({ operation: 'presign', key: 'a', expiresS: 60 })
    expect(link.code).toBe('return <files.url>')
  })

  test('shares a credential with blocks that have the same variable', () => {
    const { credentials, notes } = imported({ accessKeyId: '{{AWS_KEY}}', secretAccessKey: '{{AWS_SECRET}}' })
    expect(credentials).toMatchObject([{ name: 's3-aws-key-eu-central-1' }])
    expect(notes.join('\n')).toContain('{{AWS_KEY}}, {{AWS_SECRET}}')
  })

  test.each([
    ['copy_object', { sourceBucket: 'a', sourceKey: 'b' }, 'two S3 blocks'],
    ['head_object', { bucketName: 'a' }, '"head_object"'],
    ['presigned_url', { bucketName: 'a', method: 'put' }, 'links for reading'],
    ['get_object', { s3Uri: '<start.url>' }, 'the bucket and the key'],
    ['put_object', { uploadFile: { name: 'a.pdf', path: '/api/files/a' } }, 'a file of the run'],
  ])('stays a placeholder for %s without a counterpart', (operation, values, needs) => {
    const { block, placeholders } = imported({ operation, ...values })
    expect(block.type).toBe('placeholder')
    expect(placeholders[0]?.needs).toContain(needs)
  })
})
