"""Write small xlsx files: as a program would, or with damage."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"

Cell = str | float | bool | None


def workbook(rows: Sequence[Sequence[Cell]], *, more_sheets: Sequence[str] = (), sheet: str | None = None) -> bytes:
    """Return an xlsx file. Texts are shared, as Excel writes them; `sheet` replaces the XML of the rows."""
    texts = list(dict.fromkeys(cell for row in rows for cell in row if isinstance(cell, str)))
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    data = "".join(
        f'<row r="{number}">{"".join(_cell(cell, column, number, texts) for column, cell in enumerate(row))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    titles = ["votes", *more_sheets]
    sheets = "".join(
        f'<sheet name="{escape(title)}" sheetId="{k}" r:id="rId{k}"/>' for k, title in enumerate(titles, start=1)
    )
    relations = "".join(
        f'<Relationship Id="rId{k}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(titles) + 1)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{shared}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
        "</styleSheet>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{sheet or data}</sheetData></worksheet>',
    }
    for k in range(2, len(titles) + 1):
        parts[f"xl/worksheets/sheet{k}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData/></worksheet>'
    return zipped(parts)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive with these files."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _cell(cell: Cell, column: int, row: int, texts: list[str]) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f'<c r="{place}" t="s"><v>{texts.index(cell)}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'
