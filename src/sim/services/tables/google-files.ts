import { isObject } from '../../../domain/run/input.ts'
import type { SimValues } from '../../import/sim-values.ts'
import { textOf } from '../../sim-document.ts'
import { flag, from, isGiven, isOpen, json, number, type Read, text, then } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const fileId = from('fileSelector', 'manualFileId', 'fileId', 'file')
const folder = from('folderSelector', 'manualFolderId', 'folderId', 'uploadFolderId', 'listFolderId')
const inFolder = then(folder, (id) => [id])

export const googleDrive: ServiceRules = {
  types: ['google_drive'],
  service: 'Google Drive',
  connector: 'google-drive',
  credential: { kind: 'oauth2_authorization_code' },
  usual: 'create_folder',
  choose: (operation, values) =>
    operation === 'get_content' && isGiven(values.peek('mimeType')) ? 'export' : operation,
  operations: {
    list: {
      operation: 'findFiles',
      params: { q: query, pageSize: number('pageSize') },
      maxItems: number('pageSize'),
      outputs: { files: 'data' },
    },
    create_folder: {
      operation: 'createFolder',
      params: { name: text('fileName', 'folderName'), parents: inFolder },
      outputs: { file: 'data' },
    },
    get_content: {
      operation: 'downloadFile',
      params: { fileId },
      outputs: { content: 'data' },
      notes: ['It downloads files. A document of Google itself needs the operation "exportFile".'],
    },
    export: {
      operation: 'exportFile',
      params: { fileId, mimeType: from('mimeType') },
      outputs: { content: 'data' },
      notes: ['It exports documents of Google itself. Any other file needs the operation "downloadFile".'],
    },
    download: { operation: 'downloadFile', params: { fileId }, outputs: { file: 'data' } },
    get_file: { operation: 'getFile', params: { fileId }, outputs: { file: 'data' } },
    copy: {
      operation: 'copyFile',
      params: { fileId, name: text('newName', 'fileName'), parents: inFolder },
      outputs: { file: 'data' },
    },
    delete: { operation: 'deleteFile', params: { fileId } },
    share: {
      operation: 'shareFile',
      params: {
        fileId,
        role: from('role', 'shareRole'),
        type: from('type', 'shareType'),
        emailAddress: from('email', 'emailAddress', 'shareEmail'),
      },
      outputs: { permission: 'data' },
    },
    upload: {
      operation: 'uploadFile',
      params: { file: from('file', 'fileUpload') },
      outputs: { file: 'data' },
      notes: [
        'The uploaded file has the name Untitled, and is in no folder. Change both with the operation "changeFile".',
      ],
    },
  },
}

/** Sim combines the folder and a part of the name. */
function query(values: SimValues): unknown {
  const conditions: string[] = []
  const id = folder(values)
  if (isGiven(id)) conditions.push(`'${textOf(id)}' in parents`)
  const words = text('query')(values)
  if (isGiven(words)) {
    const part = textOf(words)
    conditions.push(isOpen(part) || !/[='"]/.test(part) ? `name contains '${part}'` : part)
  }
  if (conditions.length > 0) conditions.push('trashed = false')
  return conditions.length === 0 ? undefined : conditions.join(' and ')
}

const documentId = from('documentId', 'manualDocumentId')

export const googleDocs: ServiceRules = {
  types: ['google_docs'],
  service: 'Google Docs',
  connector: 'google-docs',
  credential: { kind: 'oauth2_authorization_code' },
  usual: 'read',
  operations: {
    read: {
      operation: 'getDocument',
      params: { documentId },
      outputs: { 'metadata.documentId': 'data.documentId', 'metadata.title': 'data.title' },
      notes: ['It returns the document with its formatting, and not its text alone.'],
    },
    write: { operation: 'appendText', params: { documentId, text: text('content') } },
    insert_text: {
      operation: 'appendText',
      params: { documentId, text: text('text') },
      needs: (values) =>
        isGiven(values.peek('index')) ? 'an operation that inserts text in the middle of a Google document' : undefined,
    },
    replace_text: {
      operation: 'replaceText',
      params: {
        documentId,
        find: text('searchText'),
        replaceWith: (values) => text('replaceText')(values) ?? '',
        matchCase: flag('matchCase'),
      },
      outputs: { occurrencesChanged: 'data.replies[0].replaceAllText.occurrencesChanged' },
    },
    create: {
      operation: 'createDocument',
      params: { title: text('title') },
      outputs: { 'metadata.documentId': 'data.documentId', 'metadata.title': 'data.title' },
      needs: (values) =>
        isGiven(values.peek('content'))
          ? 'two operations of Google Docs: one that creates the document, and one that appends its text'
          : undefined,
    },
  },
}

const spreadsheetId = from('spreadsheetId', 'manualSpreadsheetId')

/** `Sheet1!A1:D10`. The first version of the block has it as one text, and the second one in two parts. */
function rangeFrom(usualCells: string): Read {
  return (values) => {
    const whole = text('range')(values)
    if (isGiven(whole)) return whole
    const sheet = textOf(from('sheetName', 'manualSheetName')(values))
    if (sheet === '') return undefined
    const cells = textOf(text('cellRange')(values) ?? usualCells)
    const name = /^[A-Za-z0-9_]+$/.test(sheet) ? sheet : `'${sheet}'`
    return cells === '' ? name : `${name}!${cells}`
  }
}

/** Rows as lists. Sim also takes objects, of which the values become a row. */
const rows = then(json('values'), (value) => {
  if (!Array.isArray(value)) return value
  const all = value as unknown[]
  if (all.length > 0 && all.every((row) => !Array.isArray(row) && !isObject(row))) return [all]
  return all.map((row) => (isObject(row) ? Object.values(row) : row))
})
const updated = {
  updatedRange: 'data.updatedRange',
  updatedRows: 'data.updatedRows',
  updatedColumns: 'data.updatedColumns',
  updatedCells: 'data.updatedCells',
}

export const googleSheets: ServiceRules = {
  types: ['google_sheets', 'google_sheets_v2'],
  service: 'Google Sheets',
  connector: 'google-sheets',
  credential: { kind: 'oauth2_authorization_code' },
  usual: 'read',
  operations: {
    read: {
      operation: 'readRows',
      params: { spreadsheetId, range: rangeFrom('') },
      outputs: { values: 'data', 'data.values': 'data' },
      needs: (values) =>
        isGiven(values.peek('filterColumn')) && isGiven(values.peek('filterValue'))
          ? 'a function block that filters the rows after an operation has read them'
          : undefined,
    },
    write: {
      operation: 'updateRows',
      params: { spreadsheetId, range: rangeFrom('A1'), values: rows, valueInputOption: from('valueInputOption') },
      outputs: updated,
    },
    update: {
      operation: 'updateRows',
      params: { spreadsheetId, range: rangeFrom('A1'), values: rows, valueInputOption: from('valueInputOption') },
      outputs: updated,
    },
    append: {
      operation: 'appendRows',
      params: {
        spreadsheetId,
        range: rangeFrom(''),
        values: rows,
        valueInputOption: from('valueInputOption'),
        insertDataOption: from('insertDataOption'),
      },
      outputs: updated,
    },
    clear: {
      operation: 'clearRows',
      params: { spreadsheetId, range: rangeFrom('') },
      outputs: { clearedRange: 'data.clearedRange' },
    },
    get_info: { operation: 'listSheets', params: { spreadsheetId }, outputs: { sheets: 'data' } },
    create: {
      operation: 'createSpreadsheet',
      params: { title: text('title') },
      outputs: {
        spreadsheetId: 'data.spreadsheetId',
        spreadsheetUrl: 'data.spreadsheetUrl',
        title: 'data.properties.title',
      },
    },
    batch_get: {
      method: 'GET',
      url: 'https://sheets.googleapis.com/v4/spreadsheets/{spreadsheetId}/values:batchGet',
      path: { spreadsheetId },
      query: { ranges: json('ranges') },
      outputs: { valueRanges: 'data.valueRanges', spreadsheetId: 'data.spreadsheetId' },
    },
    batch_update: {
      method: 'POST',
      url: 'https://sheets.googleapis.com/v4/spreadsheets/{spreadsheetId}/values:batchUpdate',
      path: { spreadsheetId },
      body: {
        valueInputOption: (values) => from('valueInputOption')(values) ?? 'USER_ENTERED',
        data: json('batchData'),
      },
      outputs: { '*': 'data' },
    },
    batch_clear: {
      method: 'POST',
      url: 'https://sheets.googleapis.com/v4/spreadsheets/{spreadsheetId}/values:batchClear',
      path: { spreadsheetId },
      body: { ranges: json('ranges') },
      outputs: { '*': 'data' },
    },
  },
}
