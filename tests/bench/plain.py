"""A page of Streamlit's with a grid of fifty rows and nothing else: the desk's first page is held beside it.

Run by tests/bench/desk.py as `streamlit run`, with Streamlit's own settings.
"""

import pandas as pd
import streamlit as st

st.set_page_config(layout="wide")
rows = {f"column {column}": [f"value {row}, {column}" for row in range(50)] for column in range(8)}
st.dataframe(pd.DataFrame(rows), hide_index=True, height=600)
