// An ES module that imports `node:http` makes Node read each of its exports, and the export WebSocket then loads all of
// fetch. This module avoids that.
module.exports = process.getBuiltinModule('node:http');
